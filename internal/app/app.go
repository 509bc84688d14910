// Package app is the running bot: it reads the configuration, wires the parts, decides which
// instance leads, and starts and stops everything.
//
// Every instance serves HTTP and, with a webhook, handles the updates that Telegram delivers to it.
// Only the leader, which holds the lease, polls, sends, fires timers, updates boards and purges;
// all other instances stand by. A leader whose lease has merely expired pauses polling and sending,
// and keeps trying to renew the lease. It stops its work once another instance has the lease.
package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"elobot/internal/bot"
	"elobot/internal/intake"
	"elobot/internal/outbox"
	"elobot/internal/postgres"
	"elobot/internal/postgres/pgintake"
	"elobot/internal/postgres/pgoutbox"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/postgres/pgstats"
	"elobot/internal/ranking"
	"elobot/internal/stats"
	"elobot/internal/telegram"
	"elobot/internal/web"
	"elobot/migrations"
)

const (
	// databaseTimeout is how long Run and DatabaseConfig.With wait for the database. It is long
	// enough for a database that starts together with the bot, and short enough for an operator who
	// waits for the error.
	databaseTimeout = 20 * time.Second
	// requestTimeout limits the requests to Telegram at startup and in commands other than run. A
	// step that is retried has this time for each attempt.
	requestTimeout = 10 * time.Second
)

// Run runs the bot until the context ends. It then stops polling and sending at the same time. It
// returns early with an error if the bot cannot start or continue.
func Run(ctx context.Context, c Config, log *slog.Logger) error {
	c.Sources.warn(ctx, log)
	ready := new(readiness)
	ready.await("the database")
	// Listen before waiting for anything, so that health checks do not take the process for dead.
	servers, err := c.listen(ctx, ready, log)
	defer servers.close()
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	parts, ctx := errgroup.WithContext(ctx)
	parts.Go(func() error { return servers.run(ctx, &c) })
	parts.Go(func() error {
		defer stop()
		url := c.DatabaseURL
		if c.own() {
			own, err := c.startOwn(ctx, log)
			if err != nil {
				return err
			}
			defer func() {
				stop() // stop keepOwn, which may be restarting the server
				stopServer(ctx, own.Stop)
			}()
			parts.Go(func() error { return keepOwn(ctx, own, log) })
			url = own.URL()
		}
		pools, err := postgres.OpenPools(ctx, url, databaseTimeout, log)
		if err != nil {
			return c.withHint(err)
		}
		defer pools.Close()
		if err := postgres.Migrate(ctx, pools.Commands, migrations.FS, log); err != nil {
			return err
		}
		return serve(ctx, c, pools, servers, ready, log)
	})
	return parts.Wait()
}

func serve(
	ctx context.Context, c Config, pools postgres.Pools, servers servers, ready *readiness, log *slog.Logger,
) error {
	client, err := telegram.NewClient(c.Token, c.TelegramURL)
	if err != nil {
		return err
	}
	defer client.Close()
	ready.await("Telegram")
	owner, err := postgres.BotOwner(ctx, pools.Commands)
	if err != nil {
		return err
	}
	token := &token{worked: strings.HasPrefix(c.Token, fmt.Sprintf("%d:", owner)), log: log}
	self, err := fetchSelf(ctx, client, token)
	if err != nil {
		return err
	}
	if err := claimDatabase(ctx, pools.Commands, self); err != nil {
		return err
	}
	token.worked = true

	b := newInstance(c, pools, client, self, log)
	b.token = token
	if !b.polls {
		b.webhookPipeline.worker.BeCareful("with a webhook, it is not known whether the last run stopped cleanly")
		webhook := intake.NewWebhook(c.WebhookSecret, bot.ReadUpdate, b.webhookPipeline.worker)
		servers.public.Webhook(cmp.Or(readAddress(c.WebhookURL).Path, "/"), webhook)
		if err := servers.listenInPublic(ctx, &c); err != nil {
			return err
		}
	}
	if c.PublicURL != "" {
		servers.public.Board(b.board)
	}
	ready.running.Store(b)
	parts, ctx := errgroup.WithContext(ctx)
	notifying, stopNotifying := context.WithCancel(context.WithoutCancel(ctx))
	defer stopNotifying()
	parts.Go(func() error {
		defer stopNotifying() // only now, because the work notifies the other instances
		working, ctx := errgroup.WithContext(ctx)
		if !b.polls {
			working.Go(func() error { return servers.public.Run(ctx) })
		}
		working.Go(func() error {
			return leadership{b.lease, c.leaseRenewal, log}.lead(ctx, b.work)
		})
		return working.Wait()
	})
	parts.Go(func() error { return b.notifier.Run(notifying) })
	parts.Go(func() error { return watchSchema(ctx, pools.Auxiliary) })
	parts.Go(func() error { return reconcileWebhook(ctx, client, token, c.Webhook(), log) })
	parts.Go(func() error {
		publishMenus(ctx, client, log)
		return nil
	})
	log.InfoContext(ctx, "ready", "bot", self.Username, "add_to_group", self.AddToGroupLink())
	err = parts.Wait()
	log.InfoContext(ctx, "stopped")
	return err
}

type instance struct {
	pools      postgres.Pools
	client     *telegram.Client
	self       telegram.Self
	token      *token
	lease      *postgres.Lease
	notifier   *postgres.Notifier
	dispatcher *outbox.Dispatcher
	boards     *boards
	board      *web.Board // the web pages of all groups; served only if PUBLIC_URL is set
	admins     *telegram.AdminCache
	incoming   incoming
	// pollPipeline handles the updates that the leader polls; its writes need the lease.
	// webhookPipeline handles the updates of the webhook, on every instance.
	pollPipeline, webhookPipeline pipeline
	polls                         bool
	log                           *slog.Logger
}

// pipeline holds the parts that handle an update, from its arrival to the commit.
type pipeline struct {
	service *ranking.Service
	worker  *intake.Worker
}

func newInstance(
	c Config, pools postgres.Pools, client *telegram.Client, self telegram.Self, log *slog.Logger,
) *instance {
	b := &instance{
		pools: pools, client: client, self: self, polls: c.WebhookURL == "", log: log,
	}
	b.lease = postgres.NewLease(pools.Auxiliary, postgres.LeaderLease, instanceName(), c.leaseDuration)
	b.lease.Log, b.lease.TimedOut = log, pools.Distrust
	b.admins = telegram.NewAdminCache(client, time.Now)
	questions := stats.NewService(pgstats.NewStore(pools.Questions, pools.Commands))
	links := web.NewLinks(c.PublicURL, c.Token)
	proxies, _ := web.ReadProxies(c.TrustedProxies) // Resolve has checked them
	b.board = web.NewBoard(questions, links, proxies, client.Now, log)
	b.notifier = postgres.NewNotifier(pools.Auxiliary, postgres.Events{
		Wake:          func(l outbox.Lane) { b.dispatcher.Wake(l) },
		AdminsChanged: b.admins.Forget,
		WebChanged:    b.board.Changed,
		Began: func() {
			b.admins.ForgetAll()
			b.board.AllChanged()
		},
	}, log)
	b.webhookPipeline = b.newPipeline(nil, questions, c.rankingSettings())
	b.pollPipeline = b.newPipeline(b.lease, questions, c.rankingSettings())

	sending := c.outbox
	sending.ChatMigrated = func(ctx context.Context, from, to int64) error {
		return b.pollPipeline.service.MoveChat(ctx, ranking.ExternalChatID(from), ranking.ExternalChatID(to))
	}
	exports := pgranking.NewStore(pools.Questions, nil)
	exports.Now = client.Now
	sender := bot.NewSender(client, self, log).WithViews(questions).WithExports(exports)
	if c.PublicURL != "" {
		sender.WithWeb(links.Link, links.FitsButtons())
	}
	store := pgoutbox.NewStore(pools.Auxiliary)
	b.boards = newBoards(store, c.boardInterval, func(lanes ...outbox.Lane) { b.dispatcher.Wake(lanes...) }, log)
	sending.Touched, sending.BoardBegins = b.boards.touch, b.boards.noteUpdate
	b.dispatcher = outbox.NewDispatcher(store, sender, log, sending)
	return b
}

// newPipeline returns a pipeline whose writes need the lease, unless lease is nil.
func (b *instance) newPipeline(lease *postgres.Lease, questions *stats.Service, settings ranking.Settings) pipeline {
	store := pgranking.NewStore(b.pools.Commands, b.committed).WithLease(lease)
	store.Auxiliary, store.Now, store.Log, store.WebChanged = b.pools.Auxiliary, b.client.Now, b.log, b.notifier.WebChanged
	deadLetters := pgintake.NewDeadLetters(b.pools.Commands)
	deadLetters.Lease, deadLetters.Committed, deadLetters.Now = lease, b.committed, b.client.Now
	service := ranking.NewService(store, questions, b.admins, b.log, settings).WithFiles(b.client, bot.ChatOptions(b.self))
	router := bot.NewRouter(service, b.self)
	router.WhenMembersChange(func(chat ranking.ExternalChatID) {
		b.admins.Forget(chat)
		b.notifier.AdminsChanged(chat)
	})
	onDead := bot.NewDeadLetterHandler(deadLetters, b.self, store.RetryLater, b.log)
	attempts := pgintake.NewUpdateAttempts(b.pools.Commands, lease)
	letters := guardedLetters{onDead, b.pools.Auxiliary}
	return pipeline{service, intake.NewWorker(router.Handle, letters, attempts, store.Blame, b.client.Now, b.log)}
}

// committed wakes a dispatcher for a lane: this instance's own if this instance leads, otherwise
// the leader's.
func (b *instance) committed(l outbox.Lane) {
	if !b.dispatcher.Wake(l) {
		b.notifier.Wake(l)
	}
}

// work runs the leader's work until the context ends, the lease is lost, or a part of the work
// fails. Polling and sending stop at the same time: notices committed after that wait for the next
// leader.
func (b *instance) work(ctx context.Context) error {
	if err := b.claim(ctx); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	parts, ctx := errgroup.WithContext(ctx)
	parts.Go(func() error {
		defer stop()
		return b.dispatcher.Run(ctx, b.lease)
	})
	parts.Go(func() error {
		defer stop()
		return b.poll(ctx)
	})
	parts.Go(func() error { return postgres.KeepPurging(ctx, b.pools.Commands, b.lease, b.log) })
	service := b.pollPipeline.service
	runs := []func(context.Context){b.boards.run}
	for _, kind := range []timerKind{shortTimers, seasonTimers, longTimers} {
		runs = append(runs, timers{service, kind, &b.incoming, b.log}.run)
	}
	for _, run := range runs {
		parts.Go(func() error {
			run(ctx)
			return nil
		})
	}
	return parts.Wait()
}

// claim fails if another bot has adopted the database since this instance started. If the database
// connection does not answer in time, claim drops it and asks again on another one, because the
// leader neither sends nor polls until claim returns. It ignores all other errors.
func (b *instance) claim(ctx context.Context) error {
	for {
		attempt, cancel := context.WithTimeout(ctx, leaseTimeout)
		err := claimDatabase(attempt, b.pools.Commands, b.self)
		silent := attempt.Err() != nil && ctx.Err() == nil
		cancel()
		if other := (*otherBotError)(nil); errors.As(err, &other) {
			return err
		}
		if !silent {
			return nil
		}
	}
}

// poll polls for updates until the context ends. It returns an error if retrying is pointless. With
// a webhook, it only waits for the context to end.
func (b *instance) poll(ctx context.Context) error {
	if !b.polls {
		<-ctx.Done()
		return nil
	}
	if b.lease.PredecessorCrashed() {
		b.pollPipeline.worker.BeCareful(
			"the last process that polled did not stop cleanly, so one of its updates may have crashed it")
	}
	b.incoming.note(arriving, false) // until the first poll has succeeded
	return intake.NewPoller(source{b.client, b.lease, b.token, &b.incoming}, b.pollPipeline.worker).Run(ctx)
}

func fetchSelf(ctx context.Context, client *telegram.Client, token *token) (self telegram.Self, err error) {
	err = token.retry(ctx, "failed to ask Telegram who the bot is, retrying", func(ctx context.Context) error {
		self, err = client.GetMe(ctx)
		return err
	})
	if err != nil {
		return self, fmt.Errorf("ask Telegram who the bot is: %w", err)
	}
	return self, nil
}

// publishMenus publishes the command menus in all languages, with one or two requests for each
// menu. The bot also works without them, so a failure is only logged.
func publishMenus(ctx context.Context, client *telegram.Client, log *slog.Logger) {
	timed, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if err := client.PublishMenus(timed, bot.Menus()...); err != nil && ctx.Err() == nil {
		log.WarnContext(ctx, "failed to publish the command menus, they may be outdated until the next start", "error", err)
	}
}
