package app

import (
	"cmp"
	"context"
	"log/slog"
	"regexp"
	"strings"

	"elobot/internal/telegram"
	"elobot/internal/web"
)

// WebhookConfig configures how Telegram delivers updates. Without WebhookURL the bot polls.
type WebhookConfig struct {
	WebhookURL    string `env:"WEBHOOK_URL" placeholder:"URL" help:"Public address that Telegram delivers updates to, such as https://elo.example.org/telegram; without it the bot polls (default: none)."`
	WebhookSecret string `env:"WEBHOOK_SECRET" placeholder:"SECRET" help:"Secret that Telegram sends with each update, so that others cannot deliver any: 1 to 256 letters, digits, _ and - (default: none)."`
}

var secretForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,256}$`)

// Faults returns the faults of the webhook's settings. It assumes that a webhook is wanted.
// telegramURL is the address of the Bot API server, empty for Telegram's own server.
func (c WebhookConfig) Faults(telegramURL string) (faults []string) {
	switch u := readAddress(c.WebhookURL); {
	case u == nil:
		faults = append(faults, "WEBHOOK_URL must be a web address without a query, user or password, "+
			"such as https://elo.example.org/telegram, or not be set: then the bot polls")
	case u.Scheme == "http" && cmp.Or(telegramURL, telegram.DefaultURL) == telegram.DefaultURL:
		faults = append(faults, "WEBHOOK_URL must begin with https://: Telegram delivers only there")
	case u.Path == web.HealthPath || u.Path == web.ReadyPath || strings.HasPrefix(u.Path, web.BoardPath):
		faults = append(faults, "WEBHOOK_URL must have another path: this one serves a health check or web boards")
	}
	if !secretForm.MatchString(c.WebhookSecret) {
		faults = append(faults, "WEBHOOK_SECRET must be 1 to 256 letters, digits, _ and -, "+
			"such as the output of `openssl rand -hex 32`: it keeps others from delivering updates")
	}
	return faults
}

// Webhook returns the configured webhook. Its URL is empty if none is configured.
func (c WebhookConfig) Webhook() telegram.Webhook {
	return telegram.Webhook{URL: c.WebhookURL, Secret: c.WebhookSecret}
}

// reconcileWebhook makes Telegram deliver updates to want, the configured webhook, unless it
// already does. If no webhook is configured but Telegram has one, it returns ErrWebhookSet: the
// operator must decide. If ctx ends first, it returns nil.
func reconcileWebhook(
	ctx context.Context, client *telegram.Client, token *token, want telegram.Webhook, log *slog.Logger,
) error {
	err := token.retry(ctx, "failed to check the webhook, retrying", func(ctx context.Context) error {
		state, err := client.Webhook(ctx, want)
		switch {
		case err != nil:
		case want.URL == "" && state.URL != "":
			return telegram.ErrWebhookSet
		case want.URL != "" && len(state.Differences) > 0:
			// The address is not logged, because it may contain secrets.
			if err = client.SetWebhook(ctx, want); err == nil {
				log.InfoContext(ctx, "webhook registered", "changed", strings.Join(state.Differences, ", "))
			}
		}
		return err
	})
	if ctx.Err() != nil {
		err = nil
	}
	return err
}
