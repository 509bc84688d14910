package telegram

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
)

// webhookConnections is the maximum number of updates that Telegram may deliver at the same time.
const webhookConnections = 40

// fingerprintParameter begins the part of the registered address that identifies the secret.
// Telegram returns the address but never the secret, so a changed secret would otherwise go
// unnoticed.
const fingerprintParameter = "?secret_version="

// Webhook is the address to which Telegram delivers updates, and the secret that it sends with
// them.
type Webhook struct {
	URL    string // without a query
	Secret string // 1 to 256 characters of A–Z, a–z, 0–9, _ and -
}

// WebhookState is the state of the webhook at Telegram.
type WebhookState struct {
	URL         string // empty if none is set
	Differences []string
	// Pending is the number of updates that wait to be delivered or polled.
	Pending     int
	LastError   string
	LastErrorAt time.Time
}

// Webhook returns the state of the webhook, and how it differs from want.
func (c *Client) Webhook(ctx context.Context, want Webhook) (WebhookState, error) {
	var info models.WebhookInfo
	if err := c.request(ctx, "getWebhookInfo", struct{}{}, &info); err != nil {
		return WebhookState{}, err
	}
	address, _, _ := strings.Cut(info.URL, "?")
	s := WebhookState{URL: address, Pending: info.PendingUpdateCount, LastError: info.LastErrorMessage}
	if info.LastErrorDate != 0 {
		s.LastErrorAt = time.Unix(int64(info.LastErrorDate), 0).UTC()
	}
	allowed := slices.Sorted(slices.Values(info.AllowedUpdates))
	switch {
	case address != want.URL:
		s.Differences = append(s.Differences, "address")
	case info.URL != c.registered(want):
		s.Differences = append(s.Differences, "secret")
	}
	if info.MaxConnections != webhookConnections {
		s.Differences = append(s.Differences, "connections")
	}
	if !slices.Equal(allowed, slices.Sorted(slices.Values(allowedUpdates))) {
		s.Differences = append(s.Differences, "kinds of updates")
	}
	return s, nil
}

// SetWebhook makes Telegram deliver updates to w: all that already wait, and new ones of the kinds
// in allowedUpdates. Polling is impossible while a webhook is set.
func (c *Client) SetWebhook(ctx context.Context, w Webhook) error {
	err := c.request(ctx, "setWebhook", &bot.SetWebhookParams{
		URL: c.registered(w), SecretToken: w.Secret, MaxConnections: webhookConnections, AllowedUpdates: allowedUpdates,
	}, nil)
	return webhookError(err)
}

// DeleteWebhook removes the webhook. Pending updates can then be polled.
func (c *Client) DeleteWebhook(ctx context.Context) error {
	return c.request(ctx, "deleteWebhook", &bot.DeleteWebhookParams{}, nil)
}

// registered returns the address of a webhook with the fingerprint of its secret. Without the bot's
// token, the fingerprint does not reveal the secret.
func (c *Client) registered(w Webhook) string {
	mac := hmac.New(sha256.New, []byte(c.secret))
	mac.Write([]byte(w.Secret))
	return w.URL + fingerprintParameter + hex.EncodeToString(mac.Sum(nil)[:8])
}
