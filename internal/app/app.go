package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/sethvargo/go-retry"
	"golang.org/x/sync/errgroup"

	"elobot/internal/bot"
	"elobot/internal/intake"
	"elobot/internal/outbox"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
	"elobot/internal/stats"
	"elobot/internal/telegram"
	"elobot/internal/web"
)

const (
	// databasePatience is how long a start waits for the database: long enough for one that is started together with
	// the bot, short enough for whoever waits for an error.
	databasePatience = 20 * time.Second
	// requestTimeout bounds each request at the start.
	requestTimeout = 10 * time.Second
)

// Run is the whole bot: it wires the parts together and runs them until the context ends. Then what takes updates and
// what sends stop side by side.
func Run(ctx context.Context, c Config, log *slog.Logger) error {
	settings, err := c.RankingSettings()
	if err != nil {
		return err
	}
	db, err := openDatabases(ctx, c.DatabaseURL, log)
	if err != nil {
		return err
	}
	defer db.close()

	client, err := telegram.NewClient(c.Token, c.TelegramURL)
	if err != nil {
		return err
	}
	defer client.Close()
	self, err := introduce(ctx, client, log)
	if err != nil {
		return err
	}
	if err := claim(ctx, db.pool, self); err != nil {
		return err
	}
	publishMenu(ctx, client, log)

	// as late as this: whoever can connect is to be answered
	server, err := web.Listen(ctx, c.listenAddr(), log)
	if err != nil {
		return err
	}
	defer server.Close()

	b := newInstance(c, db, client, self, settings, log)
	if err := b.serve(server, c); err != nil {
		return err
	}
	times := c.leaseTimes()
	watch := newCrashWatch(db.auxiliary, b.any.worker, times, log)
	if !b.polls {
		watch.begin(ctx)
	}
	parts, ctx := errgroup.WithContext(ctx)
	notifying, stopNotifying := context.WithCancel(context.WithoutCancel(ctx))
	defer stopNotifying()
	parts.Go(func() error {
		defer stopNotifying() // until then there is something to tell the other instances
		working, ctx := errgroup.WithContext(ctx)
		working.Go(func() error { return server.Run(ctx) })
		working.Go(func() error {
			return leadership{b.lease, times.renewal, b.released, b.leading.worker.Careful, log}.lead(ctx, b.work)
		})
		return working.Wait()
	})
	parts.Go(func() error { return b.notifier.Run(notifying) })
	parts.Go(func() error {
		watchClocks(ctx, log, namedClock{"bot", ownClock}, namedClock{"database", b.lease.DatabaseNow}, namedClock{"telegram", client.Clock})
		return nil
	})
	if !b.polls {
		parts.Go(func() error { return watch.run(notifying) })
	}
	parts.Go(func() error { return reconcileWebhook(ctx, client, c.Webhook(), log) })
	log.InfoContext(ctx, "ready", "bot", self.Username, "add_to_group", self.AddToGroupLink())
	err = parts.Wait()
	log.InfoContext(ctx, "stopped")
	return err
}

// instance is the parts of a running bot.
type instance struct {
	databases
	client     *telegram.Client
	self       telegram.Self
	lease      *postgres.Lease
	notifier   *postgres.Notifier
	released   chan struct{} // holds one: somebody has given the lease up
	dispatcher *outbox.Dispatcher
	admins     *telegram.AdminCache
	// leading is what the instance does that has the lease, and changes something only as long as it has it; any is what
	// all instances do.
	leading, any handling
	polls        bool
	log          *slog.Logger
}

// handling is what takes an update from its arrival to the commit.
type handling struct {
	service *ranking.Service
	worker  *intake.Worker
}

func newInstance(c Config, db databases, client *telegram.Client, self telegram.Self, settings ranking.Settings, log *slog.Logger) *instance {
	b := &instance{databases: db, client: client, self: self, released: make(chan struct{}, 1), polls: c.WebhookURL == "", log: log}
	b.lease = postgres.NewLease(db.auxiliary, postgres.LeaderLease, instanceName(), c.leaseTimes().duration).WithLog(log).WithCommands(db.pool)
	b.admins = telegram.NewAdminCache(client, time.Now)
	b.notifier = postgres.NewNotifier(db.auxiliary, postgres.Events{
		Wake:          func(lanes ...outbox.Lane) { b.dispatcher.Wake(lanes...) },
		LeaseReleased: func() { signal(b.released) },
		AdminsChanged: b.admins.Forget,
		Began:         b.admins.ForgetAll,
	}, log)
	b.any = b.handling(nil, self, settings)
	b.leading = b.handling(b.lease, self, settings)

	sending := c.outboxSettings()
	sending.Moved = func(ctx context.Context, from, to int64) error {
		return b.leading.service.MoveChat(ctx, ranking.ExternalChatID(from), ranking.ExternalChatID(to))
	}
	b.dispatcher = outbox.NewDispatcher(postgres.NewOutbox(db.auxiliary), bot.NewSender(client, self, log), log, sending)
	return b
}

// handling returns what handles updates, under a lease if there is one.
func (b *instance) handling(lease *postgres.Lease, self telegram.Self, settings ranking.Settings) handling {
	store := postgres.NewStore(b.pool, b.committed).WithSendSlots(b.reserve).WithClock(b.client.Now).WithLog(b.log).WithAuxiliary(b.auxiliary)
	letters := postgres.NewDeadLetters(b.pool).WithWake(b.committed).WithClock(b.client.Now)
	if lease != nil {
		store, letters = store.WithLease(lease), letters.WithLease(lease)
	}
	service := ranking.NewService(store, b.log, settings)
	questions := stats.NewService(postgres.NewStats(b.reading), service)
	router := bot.NewRouter(service, questions, b.admins, self, b.client.Now)
	router.WhenMembersChange(func(chat ranking.ExternalChatID) {
		b.admins.Forget(chat)
		b.notifier.AdminsChanged(chat)
	})
	dead := bot.NewDeadLetterHandler(letters, self, store.Unavailable, b.client.Now, b.log)
	worker := intake.NewWorker(router.Handle, dead, store.Class, b.log)
	worker.SetAttempts(postgres.NewUpdateAttempts(b.pool, lease))
	return handling{service, worker}
}

// reserve holds the place of a lane, if this instance is the one that sends.
func (b *instance) reserve(ctx context.Context, l outbox.Lane) *outbox.SendSlot {
	return b.dispatcher.Reserve(ctx, l)
}

// committed has what is to be sent in a lane sent at once, by this instance or by the one that does that.
func (b *instance) committed(l outbox.Lane) {
	if !b.dispatcher.Wake(l) {
		b.notifier.Wake(l)
	}
}

// serve has the server serve what there is to be served.
func (b *instance) serve(server *web.Server, c Config) error {
	if c.ListenAddr != "" { // a port that a platform names is open to the world
		server.Stats(b.dispatcher.Stats)
	}
	if b.polls {
		return nil
	}
	path, err := c.webhookPath()
	if err != nil {
		return err
	}
	server.Webhook(path, intake.NewWebhook(c.WebhookSecret, telegram.ReadUpdate, b.any.worker))
	return nil
}

// work is what the leader does until the context ends, or the lease is lost. Taking updates and sending stop at the same
// time: what is committed after that waits for the next leader.
func (b *instance) work(ctx context.Context) error {
	// Since the start another bot may have adopted the database. Any other error says nothing of that.
	var other *otherBotError
	if err := claim(ctx, b.pool, b.self); errors.As(err, &other) {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	dispatched := make(chan error, 1)
	go func() {
		defer stop()
		dispatched <- b.dispatcher.Run(ctx, b.lease)
	}()
	purged := make(chan error, 1)
	go func() { purged <- postgres.NewPurger(b.pool, b.log).WithLease(b.lease).Run(ctx) }()
	err := b.poll(ctx)
	stop()
	lost := <-dispatched
	if err = errors.Join(err, <-purged); err != nil {
		return err // which another lease would not mend
	}
	return lost
}

// poll takes updates until the context ends, unless they are delivered.
func (b *instance) poll(ctx context.Context) error {
	if !b.polls {
		<-ctx.Done()
		return nil
	}
	poller := intake.NewPoller(source{b.client, b.lease}, b.leading.worker)
	if b.lease.PredecessorCrashed() {
		poller.AfterCrash()
	}
	return poller.Run(ctx)
}

// poke puts a token into a channel that holds one.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// introduce asks Telegram who the bot is. As long as Telegram cannot be reached it keeps trying; what Telegram refuses is
// an error.
func introduce(ctx context.Context, client *telegram.Client, log *slog.Logger) (telegram.Self, error) {
	backoff := retry.WithJitterPercent(30, retry.WithCappedDuration(20*time.Second, retry.NewExponential(500*time.Millisecond)))
	self, err := retry.DoValue(ctx, backoff, func(ctx context.Context) (telegram.Self, error) {
		ctx, cancel := context.WithTimeout(ctx, requestTimeout)
		defer cancel()
		self, err := client.GetMe(ctx)
		if err != nil && telegram.IsTransient(err) {
			log.WarnContext(ctx, "Telegram does not answer yet, trying again", "error", err)
			return self, retry.RetryableError(err)
		}
		return self, err
	})
	if err != nil {
		return self, fmt.Errorf("%w\nIs TELEGRAM_BOT_TOKEN the token that @BotFather gave you, and TELEGRAM_API_URL right or left out?", err)
	}
	return self, nil
}

// publishMenu gives the bot its menus of commands. Without them it works as well.
func publishMenu(ctx context.Context, client *telegram.Client, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if err := client.PublishMenus(ctx, bot.Menus()...); err != nil {
		log.WarnContext(ctx, "the menu of commands may be out of date until the next start", "error", err)
	}
}
