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
	Info   webhookInfoCommand   `cmd:"" help:"Say what Telegram has, and whether it is what WEBHOOK_URL and WEBHOOK_SECRET say."`
	Set    webhookSetCommand    `cmd:"" help:"Have Telegram deliver updates to WEBHOOK_URL. elobot run does so by itself."`
	Delete webhookDeleteCommand `cmd:"" help:"Have Telegram deliver nothing, so that updates can be polled. What waits there is kept."`
}

type webhookInfoCommand struct {
	app.TelegramConfig
	app.WebhookConfig
}

// Run says what Telegram has.
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
	app.TelegramConfig
	app.WebhookConfig
}

// Run sets the webhook, whatever there is.
func (c *webhookSetCommand) Run(ctx context.Context) error {
	faults := c.Faults(c.TelegramURL)
	return c.WithClient(ctx, faults, func(ctx context.Context, client *telegram.Client) error {
		if err := client.SetWebhook(ctx, c.Webhook()); err != nil {
			return err
		}
		fmt.Printf("Telegram delivers updates to %s now.\n", c.WebhookURL)
		return nil
	})
}

type webhookDeleteCommand struct {
	app.TelegramConfig
}

// Run deletes the webhook.
func (c *webhookDeleteCommand) Run(ctx context.Context) error {
	return c.WithClient(ctx, nil, func(ctx context.Context, client *telegram.Client) error {
		if err := client.DeleteWebhook(ctx); err != nil {
			return err
		}
		fmt.Println("There is no webhook any more; what waits at Telegram can be polled.")
		return nil
	})
}
