package app

import (
	"context"
	"elobot/internal/telegram"
	"elobot/internal/web"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/sethvargo/go-retry"
)

// WebhookConfig is how updates come, if Telegram is to deliver them: without an address they are polled.
type WebhookConfig struct {
	WebhookURL    string `env:"WEBHOOK_URL" placeholder:"URL" help:"The public address where Telegram is to deliver updates, as https://elo.example.org/telegram; without it they are polled (default: none)."`
	WebhookSecret string `env:"WEBHOOK_SECRET" placeholder:"SECRET" help:"What Telegram proves with that it is Telegram; any 1 to 256 letters, digits, _ and - (default: none)."`
}

var secretForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,256}$`)

// Faults says what is wrong with a webhook that is wanted.
func (c WebhookConfig) Faults(telegramURL string) (faults []string) {
	u, err := url.Parse(c.WebhookURL)
	switch {
	case err != nil, u.Hostname() == "", u.Scheme != "http" && u.Scheme != "https",
		u.User != nil, strings.ContainsAny(c.WebhookURL, "?#"):
		faults = append(faults, "WEBHOOK_URL must be a web address without a query, as https://elo.example.org/telegram; without it updates are polled")
	case u.Scheme == "http" && orDefault(telegramURL, telegram.DefaultURL) == telegram.DefaultURL:
		faults = append(faults, "WEBHOOK_URL must begin with https://: Telegram delivers to nothing else")
	case u.Path == web.MetricsPath || u.Path == web.StatsPath:
		faults = append(faults, "WEBHOOK_URL must have another path: the metrics are served at that one")
	}
	if !secretForm.MatchString(c.WebhookSecret) {
		faults = append(faults, "WEBHOOK_SECRET must be 1 to 256 letters, digits, _ and -, such as `openssl rand -hex 32` makes: it keeps others from delivering updates")
	}
	return faults
}

// Webhook returns the webhook that is wanted.
func (c WebhookConfig) Webhook() telegram.Webhook {
	return telegram.Webhook{URL: c.WebhookURL, Secret: c.WebhookSecret}
}

// webhookPath returns where it is served.
func (c WebhookConfig) webhookPath() (string, error) {
	u, err := url.Parse(c.WebhookURL)
	if err != nil {
		return "", fmt.Errorf("read webhook address: %w", err)
	}
	return orDefault(u.Path, "/"), nil
}

// listenAddr returns where to listen, empty for nowhere.
func (c *Config) listenAddr() string {
	switch {
	case c.ListenAddr != "", c.WebhookURL == "":
		return c.ListenAddr
	default:
		return net.JoinHostPort("", orDefault(c.Port, "8080"))
	}
}

// agree has Telegram deliver to the webhook that is wanted, unless it does so already. If none is wanted there must be
// none, which is for the operator to see to. As long as Telegram cannot be reached it keeps trying; what Telegram refuses
// is an error.
func reconcileWebhook(ctx context.Context, client *telegram.Client, want telegram.Webhook, log *slog.Logger) error {
	backoff := retry.WithJitterPercent(30, retry.WithCappedDuration(20*time.Second, retry.NewExponential(500*time.Millisecond)))
	err := retry.Do(ctx, backoff, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, requestTimeout)
		defer cancel()
		state, err := client.Webhook(ctx, want)
		switch {
		case err != nil:
		case want.URL == "" && state.URL != "":
			return telegram.ErrWebhookSet
		case want.URL != "" && len(state.Differences) > 0:
			if err = client.SetWebhook(ctx, want); err == nil { // the address may have secrets in it
				log.InfoContext(ctx, "webhook registered", "changed", strings.Join(state.Differences, ", "))
			}
		}
		if err != nil && telegram.IsTransient(err) {
			log.WarnContext(ctx, "Telegram does not answer yet, trying again", "error", err)
			return retry.RetryableError(err)
		}
		return err
	})
	if ctx.Err() != nil { // stopped before there was anything to agree on
		err = nil
	}
	if err != nil && want.URL != "" {
		err = fmt.Errorf("%w\nIs WEBHOOK_URL the bot's public address, with a certificate that others trust?", err)
	}
	return err
}
