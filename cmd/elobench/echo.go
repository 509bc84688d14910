package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"elobot/internal/botsim"
)

// echoWorkers is how many messages the echo bot answers at the same time: as many as elobot sends by default.
const echoWorkers = 32

// The echo bot is told by these which bot it is.
const (
	echoToken = "ELOBENCH_ECHO_TOKEN"
	echoURL   = "ELOBENCH_ECHO_URL"
)

// runEcho is a bot on elobot's own library that answers each message with its text, and does nothing else, until it is told
// to stop: what it takes is what Telegram, the library and this machine take by themselves.
func runEcho(ctx context.Context) error {
	token, url := os.Getenv(echoToken), os.Getenv(echoURL)
	if token == "" || url == "" {
		return errors.New("the echo bot is started by a measurement")
	}
	pool := http.DefaultTransport.(*http.Transport).Clone()
	pool.MaxIdleConnsPerHost = 64 // as elobot has it
	b, err := bot.New(token, bot.WithServerURL(url), bot.WithHTTPClient(time.Minute, &http.Client{Transport: pool}),
		bot.WithDefaultHandler(echo), bot.WithNotAsyncHandlers(), bot.WithWorkers(echoWorkers))
	if err != nil {
		return fmt.Errorf("start the echo bot: %w", err)
	}
	b.Start(ctx)
	return nil
}

func echo(ctx context.Context, b *bot.Bot, u *models.Update) {
	if u.Message == nil {
		return
	}
	// What is not answered is missed by whoever counts the answers.
	_, _ = b.SendMessage(ctx, &bot.SendMessageParams{
		ChatID: u.Message.Chat.ID, Text: u.Message.Text, ReplyParameters: &models.ReplyParameters{MessageID: u.Message.ID},
	})
}

// launchEcho starts the echo bot as a process of its own, as elobot is one.
func (e *environment) launchEcho(ctx context.Context, sim *botsim.Server) (*process, error) {
	return launch(ctx, e.folder, []string{echoToken + "=" + sim.Token(), echoURL + "=" + sim.URL()}, e.self, echoArgument)
}
