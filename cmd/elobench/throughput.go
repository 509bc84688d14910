package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"elobot/internal/botsim"
)

// recordedEvery is the interval between queries for the number of recorded results: short enough to be precise, and long
// enough not to affect the result.
const recordedEvery = 50 * time.Millisecond

// throughput measures how fast the bot processes waiting results, end to end.
func throughput() scenario {
	return scenario{
		name:        "throughput",
		description: "results that are waiting when the bot starts, by polling and by webhook, without limits",
		run: func(ctx context.Context, env *environment) ([]figure, error) {
			polled, err := measureThroughput(ctx, env, "throughput", polling)
			if err != nil {
				return polled, err
			}
			delivered, err := measureThroughput(ctx, env, "throughput.webhook", webhook)
			return append(polled, delivered...), err
		},
	}
}

// deliveryMode is a way in which the bot gets its updates.
type deliveryMode struct {
	name string
	// onDelivery makes the simulator call f at each request or delivery of updates.
	onDelivery func(sim *botsim.Server, f func())
	// launch starts the bot in this mode.
	launch func(ctx context.Context, env *environment, sim *botsim.Server, databaseURL string) (*process, error)
}

var polling = deliveryMode{
	name: "polling",
	onDelivery: func(sim *botsim.Server, f func()) {
		sim.OnCall(func(c botsim.Call) {
			if c.Method == "getUpdates" {
				f()
			}
		})
	},
	launch: func(ctx context.Context, env *environment, sim *botsim.Server, databaseURL string) (*process, error) {
		return env.launchBot(ctx, sim, databaseURL, noLimits...)
	},
}

// webhook delivers updates over as many connections as the bot requests, which is 40.
var webhook = deliveryMode{
	name:       "webhook",
	onDelivery: func(sim *botsim.Server, f func()) { sim.OnDelivery(func(botsim.Delivery) { f() }) },
	launch: func(ctx context.Context, env *environment, sim *botsim.Server, databaseURL string) (*process, error) {
		bot, _, err := env.launchWithWebhook(ctx, sim, databaseURL, "")
		return bot, err
	},
}

var servingAt = regexp.MustCompile(`msg=serving addr=(127\.0\.0\.1:\d+)`)

// webhookSecret is the secret token of webhook requests.
const webhookSecret = "nobody_else_knows_it"

// launchWithWebhook starts a bot with a webhook and returns its endpoint. public is the address for Telegram, which all
// instances of a bot share; empty means the bot's own endpoint. The port must be known before the bot listens on it. If
// another process takes the port first, the bot ends with an error.
func (e *environment) launchWithWebhook(
	ctx context.Context, sim *botsim.Server, databaseURL, public string,
) (bot *process, endpoint string, err error) {
	address, err := freeAddress(ctx)
	if err != nil {
		return nil, "", err
	}
	endpoint = "http://" + address + "/telegram"
	env := []string{"LISTEN_ADDR=" + address, "WEBHOOK_URL=" + cmp.Or(public, endpoint), "WEBHOOK_SECRET=" + webhookSecret}
	bot, err = e.launchBot(ctx, sim, databaseURL, append(env, noLimits...)...)
	if err != nil {
		return nil, "", err
	}
	if _, err := bot.await(ctx, servingAt); err != nil {
		return nil, "", errors.Join(err, bot.kill())
	}
	return bot, endpoint, nil
}

// measureThroughput measures the time from the first request for or delivery of updates until all results are recorded, and
// until the bot has answered all of them. A message that covers several results counts as several.
func measureThroughput(ctx context.Context, env *environment, name string, by deliveryMode) ([]figure, error) {
	sim, err := botsim.New(botsim.WithRecordLimit(1000))
	if err != nil {
		return nil, err
	}
	defer sim.Close()
	db, drop, err := env.database(ctx)
	if err != nil {
		return nil, err
	}
	defer drop()
	load, n := newWorkload(sim, env.sizes), env.sizes.results
	for i := range n {
		load.reportMatch(i)
	}
	env.progress.log("%d results of %d groups are waiting, by %s", n, env.sizes.groups, by.name)

	var startedAt time.Time
	var once sync.Once
	by.onDelivery(sim, func() { once.Do(func() { startedAt = time.Now() }) })
	messages, unsubscribe := sim.Subscribe()
	defer unsubscribe()
	bot, err := by.launch(ctx, env, sim, db.url)
	if err != nil {
		return nil, err
	}
	before, err := env.processorTime(bot)
	if err != nil {
		return nil, errors.Join(err, bot.kill())
	}
	recorded, coveredAt, err := awaitResults(ctx, env, bot, db, messages, n)
	var used time.Duration
	var rss []figure
	if err == nil {
		used, err = env.processorTime(bot)
	}
	if err == nil {
		rss, err = env.peak(bot, name+".rss")
	}
	err = errors.Join(err, bot.stop())
	if err == nil {
		err = errors.Join(env.verify(ctx, db.url), complaintsOf(sim))
	}
	if err != nil {
		return nil, fmt.Errorf("by %s: %w", by.name, err)
	}
	figures := []figure{
		{Name: name + ".recorded", Value: perSecond(n, recorded.Sub(startedAt)), Unit: "results/s", Better: higher},
		{Name: name + ".delivered", Value: perSecond(n, coveredAt.Sub(startedAt)), Unit: "results/s", Better: higher},
		{Name: name + ".messages", Value: float64(sim.CallCount("sendMessage")), Unit: "messages", Better: lower},
	}
	if used > 0 {
		figures = append(figures, figure{Name: name + ".processor", Value: microseconds(used-before) / float64(n), Unit: "µs/result", Better: lower})
	}
	return append(figures, rss...), nil
}

// awaitResults waits for n results. It returns when they were recorded, and when the bot had answered all of them.
func awaitResults(
	ctx context.Context, env *environment, bot *process, db database, messages <-chan botsim.Message, n int,
) (recorded, coveredAt time.Time, err error) {
	ctx, cancel := bot.during(ctx)
	defer cancel()
	both, ctx := errgroup.WithContext(ctx)
	both.Go(func() (err error) {
		recorded, err = awaitRecorded(ctx, db, n)
		return err
	})
	both.Go(func() (err error) {
		coveredAt, err = newResultCounter().wait(ctx, messages, n, env.progress)
		return err
	})
	err = both.Wait()
	if coveredAt.Before(recorded) { // an answered result is recorded, even if awaitRecorded has not polled yet
		recorded = coveredAt
	}
	return recorded, coveredAt, err
}

// awaitRecorded waits until n matches are in the database and returns the time.
func awaitRecorded(ctx context.Context, db database, n int) (time.Time, error) {
	tick := time.NewTicker(recordedEvery)
	defer tick.Stop()
	for {
		var recorded int
		// cheaper than counting the matches; each match increments the number of its group in its own transaction
		err := db.QueryRow(ctx, `SELECT coalesce(sum(last_match_number), 0) FROM groups`).Scan(&recorded)
		switch {
		case err != nil:
			return time.Time{}, fmt.Errorf("count recorded results: %w", err)
		case recorded >= n:
			return time.Now(), nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return time.Time{}, fmt.Errorf("wait for results: %w", context.Cause(ctx))
		}
	}
}

// complaintsOf returns an error if the simulator has complaints about the bot's requests.
func complaintsOf(sim *botsim.Server) error {
	if complaints := sim.Complaints(); len(complaints) > 0 {
		return fmt.Errorf("the simulator complains: %s", strings.Join(complaints, "; "))
	}
	return nil
}
