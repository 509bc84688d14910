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

// echoWorkers is the number of messages that the echo bot answers concurrently: as many as elobot sends by default.
const echoWorkers = 32

// Environment variables of the echo bot. The database is optional.
const (
	echoToken    = "ELOBENCH_ECHO_TOKEN"
	echoURL      = "ELOBENCH_ECHO_URL"
	echoDatabase = "ELOBENCH_ECHO_DATABASE"
)

// runEcho runs a bot that answers each message with its text until ctx ends. It uses elobot's library in the usual way.
// Without a database it does nothing else: it shows the cost of Telegram, the library and this machine. With a database it
// first looks up each message and commits a row for it, in two round trips as elobot does.
func runEcho(ctx context.Context) error {
	token, url := os.Getenv(echoToken), os.Getenv(echoURL)
	if token == "" || url == "" {
		return errors.New("only a measurement can start the echo bot")
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
			if err := recordUpdate(ctx, db, u); err != nil {
				fail(fmt.Errorf("record an update: %w", err))
				return
			}
			echo(ctx, b, u)
		}
	}
	pool := http.DefaultTransport.(*http.Transport).Clone()
	pool.MaxIdleConnsPerHost = 64 // as in elobot
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
	// The benchmark counts the answers and detects missing ones.
	_, _ = b.SendMessage(ctx, &bot.SendMessageParams{
		ChatID: u.Message.Chat.ID, Text: u.Message.Text, ReplyParameters: &models.ReplyParameters{MessageID: u.Message.ID},
	})
}

// recordUpdate looks up an update and commits one row for it, in one round trip each.
func recordUpdate(ctx context.Context, db *pgxpool.Pool, u *models.Update) error {
	key := fmt.Sprint("echo ", u.ID)
	var handled bool
	err := db.QueryRow(ctx, `SELECT EXISTS (SELECT FROM handled_commands WHERE key = $1)`, key).Scan(&handled)
	if err == nil && !handled {
		_, err = db.Exec(ctx, `INSERT INTO handled_commands (key) VALUES ($1)`, key)
	}
	return err
}

// launchEcho starts the echo bot as a separate process, like elobot. An empty database URL means no database.
func (e *environment) launchEcho(ctx context.Context, sim *botsim.Server, database string) (*process, error) {
	env := []string{echoToken + "=" + sim.Token(), echoURL + "=" + sim.URL(), echoDatabase + "=" + database}
	return launch(ctx, e.folder, env, e.self, echoArgument)
}
