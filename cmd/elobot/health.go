package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"elobot/internal/app"
	"elobot/internal/web"
)

// healthTimeout limits the wait for the bot's answer. It exceeds the time that the bot itself waits
// for the database before it answers.
const healthTimeout = 5 * time.Second

type healthCommand struct {
	app.ServingConfig
	WebhookURL string `env:"WEBHOOK_URL" hidden:"" help:"With a webhook, the bot serves at port 8080 by default."`
}

// Run asks the instance on this machine whether it is ready, and prints whether it leads. It
// returns an error if the instance is not ready or does not answer.
func (h *healthCommand) Run(ctx context.Context) error {
	url, err := h.HealthURL(h.WebhookURL, web.ReadyPath)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("ask for the health: %w", err)
	}
	// No proxy: the bot is on this machine.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("no answer: %w", err)
	}
	defer response.Body.Close()
	var state web.Readiness
	if err := json.NewDecoder(response.Body).Decode(&state); err != nil {
		return fmt.Errorf("%s answers %s, which no elobot does", url, response.Status)
	}
	switch {
	case !state.Ready:
		return errors.New("not ready: " + state.Problem)
	case state.Leader:
		fmt.Println("ready, leading")
	default:
		fmt.Println("ready, standing by")
	}
	return nil
}
