package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/sethvargo/go-retry"
	"golang.org/x/sync/errgroup"

	"elobot/internal/intake"
	"elobot/internal/outbox"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
	"elobot/internal/telegram"
	"elobot/internal/web"
	"elobot/migrations"
)

const (
	// databasePatience is how long a start waits for the database: long enough for one that is started together with
	// the bot, short enough for whoever waits for an error.
	databasePatience = 20 * time.Second
	// requestTimeout bounds each request at the start.
	requestTimeout = 10 * time.Second
)

type runCommand struct {
	config
}

// Run runs the bot until the context ends.
func (r *runCommand) Run(ctx context.Context) error {
	if err := r.complete(); err != nil {
		return err
	}
	log, err := r.logger()
	if err != nil {
		return err
	}
	return runBot(ctx, r.config, log)
}

// runBot is the whole bot: it wires the parts together, starts them in order, and stops them in the opposite one.
func runBot(ctx context.Context, c config, log *slog.Logger) error {
	log.InfoContext(ctx, "starting", "version", version)
	window, err := c.undoWindow()
	if err != nil {
		return err
	}
	pool, err := openDatabase(ctx, c.DatabaseURL, log)
	if err != nil {
		return err
	}
	defer postgres.Close(pool)

	client, err := telegram.NewClient(c.Token, c.TelegramURL)
	if err != nil {
		return err
	}
	defer client.Close()
	self, err := introduce(ctx, client, log)
	if err != nil {
		return err
	}

	b := &bot{pool: pool, client: client, log: log}
	times := c.leaseTimes()
	b.lease = postgres.NewLease(pool, postgres.LeaderLease, holder(), times.duration)
	var dispatcher *outbox.Dispatcher
	b.store = postgres.NewStore(pool, func(l outbox.Lane) { dispatcher.Wake(l) })
	service := newService(b.store, window, log)
	b.router = telegram.NewRouter(service, client, self, time.Now)
	settings := c.outboxSettings()
	settings.Moved = func(ctx context.Context, from, to int64) error {
		return service.MoveChat(ctx, ranking.ExternalChatID(from), ranking.ExternalChatID(to))
	}
	dispatcher = outbox.NewDispatcher(postgres.NewOutbox(pool), telegram.NewSender(client, self, log), log, settings)
	b.dispatcher = dispatcher

	parts, ctx := errgroup.WithContext(ctx)
	parts.Go(func() error { return leadership{b.lease, times.renewal, log}.lead(ctx, b.work) })
	if c.ListenAddr != "" {
		parts.Go(func() error { return web.NewServer(c.ListenAddr, dispatcher.Figures, log).Run(ctx) })
	}
	log.InfoContext(ctx, "ready", "bot", self.Username)
	err = parts.Wait()
	log.InfoContext(ctx, "stopped")
	return err
}

// bot is the parts of a running bot.
type bot struct {
	pool       *pgxpool.Pool
	lease      *postgres.Lease
	store      *postgres.Store
	client     *telegram.Client
	router     *telegram.Router
	dispatcher *outbox.Dispatcher
	log        *slog.Logger
}

// work is what the leader does until the context ends, or the lease is lost.
func (b *bot) work(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	poller := intake.NewPoller(b.client, b.router.Handle, postgres.NewDeadLetters(b.pool), b.store.Unavailable, b.log)
	// The dispatcher stops after the poller, so that what was in hand can still be answered.
	dispatching, stopDispatching := context.WithCancel(context.WithoutCancel(ctx))
	defer stopDispatching()
	dispatched := make(chan error, 1)
	go func() {
		defer stop()
		dispatched <- b.dispatcher.Run(dispatching, b.lease)
	}()
	purged := make(chan error, 1)
	go func() { purged <- postgres.NewPurger(b.pool, b.log).Run(ctx) }()
	err := poller.Run(ctx)
	stop()
	stopDispatching()
	lost := <-dispatched
	if err = errors.Join(err, <-purged); err != nil {
		return err // which another lease would not mend
	}
	return lost
}

// newService returns what handles commands.
func newService(store *postgres.Store, undoWindow time.Duration, log *slog.Logger) *ranking.Service {
	return ranking.NewService(store, log, ranking.Settings{UndoWindow: undoWindow})
}

// connectDatabase opens the database as it is.
func connectDatabase(ctx context.Context, url string, log *slog.Logger) (*pgxpool.Pool, error) {
	pool, err := postgres.Open(ctx, url, databasePatience, log)
	if err != nil {
		return nil, fmt.Errorf("%w\nIs PostgreSQL running, and does DATABASE_URL say where, with the right user, password and database?", err)
	}
	return pool, nil
}

// openDatabase opens the database and brings it up to date.
func openDatabase(ctx context.Context, url string, log *slog.Logger) (*pgxpool.Pool, error) {
	pool, err := connectDatabase(ctx, url, log)
	if err != nil {
		return nil, err
	}
	if err := postgres.Migrate(ctx, pool, migrations.FS); err != nil {
		postgres.Close(pool)
		return nil, err
	}
	return pool, nil
}

// introduce asks Telegram who the bot is and publishes its menu. As long as Telegram cannot be reached it keeps trying;
// what Telegram refuses is an error.
func introduce(ctx context.Context, client *telegram.Client, log *slog.Logger) (telegram.Self, error) {
	backoff := retry.WithJitterPercent(30, retry.WithCappedDuration(20*time.Second, retry.NewExponential(500*time.Millisecond)))
	self, err := retry.DoValue(ctx, backoff, func(ctx context.Context) (telegram.Self, error) {
		ctx, cancel := context.WithTimeout(ctx, requestTimeout)
		defer cancel()
		self, err := client.GetMe(ctx)
		if err != nil && telegram.Passing(err) {
			log.WarnContext(ctx, "Telegram does not answer yet, trying again", "error", err)
			return self, retry.RetryableError(err)
		}
		return self, err
	})
	if err != nil {
		return self, fmt.Errorf("%w\nIs TELEGRAM_BOT_TOKEN the token that @BotFather gave you, and TELEGRAM_API_URL right or left out?", err)
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if err := client.PublishMenu(ctx); err != nil {
		log.WarnContext(ctx, "the menu of commands may be out of date until the next start", "error", err)
	}
	return self, nil
}
