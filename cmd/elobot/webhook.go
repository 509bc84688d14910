package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"elobot/internal/app"
	"elobot/internal/telegram"
)

type webhookCommand struct {
	Info   webhookInfoCommand   `cmd:"" help:"Show the webhook at Telegram, and how it differs from WEBHOOK_URL and WEBHOOK_SECRET."`
	Set    webhookSetCommand    `cmd:"" help:"Make Telegram deliver updates to WEBHOOK_URL; elobot run does so by itself."`
	Delete webhookDeleteCommand `cmd:"" help:"Delete the webhook, so that the bot can poll; Telegram keeps pending updates."`
}

type webhookInfoCommand struct {
	app.TelegramConfig
	app.WebhookConfig
}

func (c *webhookInfoCommand) Run(ctx context.Context) error {
	return c.WithClient(ctx, nil, func(ctx context.Context, client *telegram.Client) error {
		state, err := client.Webhook(ctx, c.Webhook())
		if err != nil {
			return err
		}
		fmt.Printf("webhook     %s\n", cmp.Or(state.URL, "none: updates are polled"))
		switch {
		case state.URL == "" || c.WebhookURL == "":
		case len(state.Differences) > 0:
			fmt.Printf("differs in  %s: `elobot run` or `elobot webhook set` corrects it\n",
				strings.Join(state.Differences, ", "))
		default:
			fmt.Printf("differs in  nothing: it matches WEBHOOK_URL and WEBHOOK_SECRET\n")
		}
		fmt.Printf("waiting     %s\n", counted(state.Pending, "update", "updates"))
		if state.LastError != "" {
			fmt.Printf("last error  %s: %s\n", timestamp(state.LastErrorAt), escapeInvisible(state.LastError))
		}
		return nil
	})
}

type webhookSetCommand struct {
	app.TelegramConfig
	app.WebhookConfig
}

// Run sets the webhook, which replaces any other.
func (c *webhookSetCommand) Run(ctx context.Context) error {
	faults := c.Faults(c.TelegramURL)
	return c.WithClient(ctx, faults, func(ctx context.Context, client *telegram.Client) error {
		if err := client.SetWebhook(ctx, c.Webhook()); err != nil {
			return err
		}
		fmt.Printf("Telegram now delivers updates to %s.\n", c.WebhookURL)
		return nil
	})
}

type webhookDeleteCommand struct {
	app.TelegramConfig
}

func (c *webhookDeleteCommand) Run(ctx context.Context) error {
	return c.WithClient(ctx, nil, func(ctx context.Context, client *telegram.Client) error {
		if err := client.DeleteWebhook(ctx); err != nil {
			return err
		}
		fmt.Println("The webhook is deleted. The bot can poll the updates that are waiting at Telegram.")
		return nil
	})
}
