package app

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/bot"
	"elobot/internal/outbox"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/postgres/pgstats"
	"elobot/internal/ranking"
	"elobot/internal/stats"
	"elobot/internal/telegram"
)

// RetryRouter returns a Telegram client, which the caller must close, and a router that handles
// updates as the running bot does. It resolves the configuration, and returns a *ConfigError if the
// configuration has faults. It fails if the database belongs to another bot, and otherwise claims
// the database for this bot.
func (c *Config) RetryRouter(ctx context.Context, pool *pgxpool.Pool) (*telegram.Client, *bot.Router, error) {
	if err := c.Resolve(); err != nil {
		return nil, nil, err
	}
	log := c.Logger()
	client, err := telegram.NewClient(c.Token, c.TelegramURL)
	if err != nil {
		return nil, nil, err
	}
	request, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	self, err := client.GetMe(request)
	if err != nil {
		client.Close()
		return nil, nil, fmt.Errorf("ask Telegram who the bot is: %w\nNothing was retried", err)
	}
	if err := claimDatabase(ctx, pool, self); err != nil {
		client.Close()
		return nil, nil, err
	}
	// The running bot finds new notices without a wake-up.
	store := pgranking.NewStore(pool, func(outbox.Lane) {})
	store.Now, store.Log = client.Now, log
	questions, admins := stats.NewService(pgstats.NewStore(pool, pool)), telegram.NewAdminCache(client, time.Now)
	service := ranking.NewService(store, questions, admins, log, c.rankingSettings()).
		WithFiles(client, bot.ChatOptions(self))
	return client, bot.NewRouter(service, self), nil
}
