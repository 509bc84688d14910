package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/sethvargo/go-retry"

	"elobot/internal/telegram"
	"elobot/internal/web"
)

// webhookConfig is how updates come, if Telegram is to deliver them: without an address they are polled.
type webhookConfig struct {
	WebhookURL    string `env:"WEBHOOK_URL" placeholder:"URL" help:"The public address where Telegram is to deliver updates, as https://elo.example.org/telegram; without it they are polled (default: none)."`
	WebhookSecret string `env:"WEBHOOK_SECRET" placeholder:"SECRET" help:"What Telegram proves with that it is Telegram; any 1 to 256 letters, digits, _ and - (default: none)."`
}

var secretForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,256}$`)

// faults says what is wrong with a webhook that is wanted.
func (c webhookConfig) faults(telegramURL string) (faults []string) {
	u, err := url.Parse(c.WebhookURL)
	switch {
	case err != nil, u.Hostname() == "", u.Scheme != "http" && u.Scheme != "https",
		u.User != nil, strings.ContainsAny(c.WebhookURL, "?#"):
		faults = append(faults, "WEBHOOK_URL must be a web address without a query, as https://elo.example.org/telegram; without it updates are polled")
	case u.Scheme == "http" && telegramURL == telegram.DefaultURL:
		faults = append(faults, "WEBHOOK_URL must begin with https://: Telegram delivers to nothing else")
	case u.Path == web.MetricsPath || u.Path == web.FiguresPath:
		faults = append(faults, "WEBHOOK_URL must have another path: the metrics are served at that one")
	}
	if !secretForm.MatchString(c.WebhookSecret) {
		faults = append(faults, "WEBHOOK_SECRET must be 1 to 256 letters, digits, _ and -, such as `openssl rand -hex 32` makes: it keeps others from delivering updates")
	}
	return faults
}

// webhook returns the webhook that is wanted.
func (c webhookConfig) webhook() telegram.Webhook {
	return telegram.Webhook{URL: c.WebhookURL, Secret: c.WebhookSecret}
}

// webhookPath returns where it is served.
func (c webhookConfig) webhookPath() (string, error) {
	u, err := url.Parse(c.WebhookURL)
	if err != nil {
		return "", fmt.Errorf("read webhook address: %w", err)
	}
	return orDefault(u.Path, "/"), nil
}

// listenAddr returns where to listen, empty for nowhere.
func (c *config) listenAddr() string {
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
func agree(ctx context.Context, client *telegram.Client, want telegram.Webhook, log *slog.Logger) error {
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
		if err != nil && telegram.Passing(err) {
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

type webhookCommand struct {
	Info   webhookInfoCommand   `cmd:"" help:"Say what Telegram has, and whether it is what WEBHOOK_URL and WEBHOOK_SECRET say."`
	Set    webhookSetCommand    `cmd:"" help:"Have Telegram deliver updates to WEBHOOK_URL. elobot run does so by itself."`
	Delete webhookDeleteCommand `cmd:"" help:"Have Telegram deliver nothing, so that updates can be polled. What waits there is kept."`
}

// withTelegram calls a function with a client of the bot.
func (c *telegramConfig) withTelegram(ctx context.Context, more []string, do func(context.Context, *telegram.Client) error) error {
	if faults := append(c.complete(), more...); len(faults) > 0 {
		return &configurationError{faults}
	}
	client, err := telegram.NewClient(c.Token, c.TelegramURL)
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return do(ctx, client)
}

type webhookInfoCommand struct {
	telegramConfig
	webhookConfig
}

// Run says what Telegram has.
func (c *webhookInfoCommand) Run(ctx context.Context) error {
	return c.withTelegram(ctx, nil, func(ctx context.Context, client *telegram.Client) error {
		state, err := client.Webhook(ctx, c.webhook())
		if err != nil {
			return err
		}
		fmt.Printf("webhook     %s\n", orDefault(state.URL, "none: updates are polled"))
		switch {
		case state.URL == "" || c.WebhookURL == "":
		case len(state.Differences) > 0:
			fmt.Printf("differs in  %s: `elobot run` or `elobot webhook set` sets it right\n", strings.Join(state.Differences, ", "))
		default:
			fmt.Printf("differs in  nothing from WEBHOOK_URL and WEBHOOK_SECRET\n")
		}
		fmt.Printf("waiting     %s\n", counted(state.Pending, "update", "updates"))
		if state.LastError != "" {
			fmt.Printf("last error  %s: %s\n", moment(state.LastErrorAt), harmless(state.LastError))
		}
		return nil
	})
}

type webhookSetCommand struct {
	telegramConfig
	webhookConfig
}

// Run sets the webhook, whatever there is.
func (c *webhookSetCommand) Run(ctx context.Context) error {
	faults := c.faults(orDefault(c.TelegramURL, telegram.DefaultURL))
	return c.withTelegram(ctx, faults, func(ctx context.Context, client *telegram.Client) error {
		if err := client.SetWebhook(ctx, c.webhook()); err != nil {
			return err
		}
		fmt.Printf("Telegram delivers updates to %s now.\n", c.WebhookURL)
		return nil
	})
}

type webhookDeleteCommand struct {
	telegramConfig
}

// Run deletes the webhook.
func (c *webhookDeleteCommand) Run(ctx context.Context) error {
	return c.withTelegram(ctx, nil, func(ctx context.Context, client *telegram.Client) error {
		if err := client.DeleteWebhook(ctx); err != nil {
			return err
		}
		fmt.Println("There is no webhook any more; what waits at Telegram can be polled.")
		return nil
	})
}
