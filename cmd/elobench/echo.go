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
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/botsim"
)

// echoWorkers is how many messages the echo bot answers at the same time: as many as elobot sends by default.
const echoWorkers = 32

// The echo bot is told by these which bot it is, and where its database is if it has one.
const (
	echoToken    = "ELOBENCH_ECHO_TOKEN"
	echoURL      = "ELOBENCH_ECHO_URL"
	echoDatabase = "ELOBENCH_ECHO_DATABASE"
)

// runEcho is a bot on elobot's library, used as it is meant to be, that answers each message with its text, until it is told
// to stop. Without a database it does nothing else: what it takes is what Telegram, the library and this machine take by
// themselves. With one it looks first whether it knows the message already, and commits a row for it: two round trips, as
// elobot makes them.
func runEcho(ctx context.Context) error {
	token, url := os.Getenv(echoToken), os.Getenv(echoURL)
	if token == "" || url == "" {
		return errors.New("the echo bot is started by a measurement")
	}
	handle := echo
	running, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	if database := os.Getenv(echoDatabase); database != "" {
		db, err := pgxpool.New(ctx, database)
		if err != nil {
			return fmt.Errorf("open the echo bot's database: %w", err)
		}
		defer db.Close()
		handle = func(ctx context.Context, b *bot.Bot, u *models.Update) {
			if err := keep(ctx, db, u); err != nil {
				fail(fmt.Errorf("keep an update: %w", err))
				return
			}
			echo(ctx, b, u)
		}
	}
	pool := http.DefaultTransport.(*http.Transport).Clone()
	pool.MaxIdleConnsPerHost = 64 // as elobot has it
	b, err := bot.New(token, bot.WithServerURL(url), bot.WithHTTPClient(time.Minute, &http.Client{Transport: pool}),
		bot.WithDefaultHandler(handle), bot.WithNotAsyncHandlers(), bot.WithWorkers(echoWorkers))
	if err != nil {
		return fmt.Errorf("start the echo bot: %w", err)
	}
	b.Start(running)
	if ctx.Err() != nil {
		return nil
	}
	return context.Cause(running)
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

// keep looks whether an update is known already and commits one row for it, in one round trip each.
func keep(ctx context.Context, db *pgxpool.Pool, u *models.Update) error {
	key := fmt.Sprint("echo ", u.ID)
	var handled bool
	err := db.QueryRow(ctx, `SELECT EXISTS (SELECT FROM handled_commands WHERE key = $1)`, key).Scan(&handled)
	if err == nil && !handled {
		_, err = db.Exec(ctx, `INSERT INTO handled_commands (key) VALUES ($1)`, key)
	}
	return err
}

// launchEcho starts the echo bot as a process of its own, as elobot is one. The database's URL is empty for none.
func (e *environment) launchEcho(ctx context.Context, sim *botsim.Server, database string) (*process, error) {
	env := []string{echoToken + "=" + sim.Token(), echoURL + "=" + sim.URL(), echoDatabase + "=" + database}
	return launch(ctx, e.folder, env, e.self, echoArgument)
}
