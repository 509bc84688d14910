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

// recordedEvery is how often the database is asked how much is recorded: often enough to tell, and too rarely to matter.
const recordedEvery = 50 * time.Millisecond

// throughput measures how fast the bot works off what waits for it, end to end.
func throughput() scenario {
	return scenario{
		name:        "throughput",
		description: "results that wait when the bot starts, by polling and by webhook, without limits",
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

// receiving is how the bot gets its updates.
type receiving struct {
	name string
	// began calls f each time when updates are on their way to the bot.
	began func(sim *botsim.Server, f func())
	// launch starts the bot so that it gets them.
	launch func(ctx context.Context, env *environment, sim *botsim.Server, databaseURL string) (*process, error)
}

var polling = receiving{
	name: "polling",
	began: func(sim *botsim.Server, f func()) {
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

// webhook has updates delivered by as many connections as the bot asks for, which are 40.
var webhook = receiving{
	name:  "webhook",
	began: func(sim *botsim.Server, f func()) { sim.OnDelivery(func(botsim.Delivery) { f() }) },
	launch: func(ctx context.Context, env *environment, sim *botsim.Server, databaseURL string) (*process, error) {
		bot, _, err := env.launchBehindDoor(ctx, sim, databaseURL, "")
		return bot, err
	},
}

var servingAt = regexp.MustCompile(`msg=serving addr=(127\.0\.0\.1:\d+)`)

// webhookSecret proves that somebody is Telegram.
const webhookSecret = "nobody_else_knows_it"

// launchBehindDoor starts a bot with a webhook, and returns where it takes updates. Telegram is told to deliver to the
// public address, which all instances of a bot have in common; empty is this one's own. Its port has to be known before
// it listens, so it is one that was free a moment ago; where somebody else has taken it the bot ends and says so.
func (e *environment) launchBehindDoor(
	ctx context.Context, sim *botsim.Server, databaseURL, public string,
) (bot *process, door string, err error) {
	address, err := freeAddress(ctx)
	if err != nil {
		return nil, "", err
	}
	door = "http://" + address + "/telegram"
	env := []string{"LISTEN_ADDR=" + address, "WEBHOOK_URL=" + cmp.Or(public, door), "WEBHOOK_SECRET=" + webhookSecret}
	bot, err = e.launchBot(ctx, sim, databaseURL, append(env, noLimits...)...)
	if err != nil {
		return nil, "", err
	}
	if _, err := bot.await(ctx, servingAt); err != nil {
		return nil, "", errors.Join(err, bot.kill())
	}
	return bot, door, nil
}

// measureThroughput measures from the bot's first request for updates, or the first that is delivered to it, until all
// results are recorded, and until all are told. What is told together counts as many results as it tells.
func measureThroughput(ctx context.Context, env *environment, name string, by receiving) ([]figure, error) {
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
	crowd, n := newCrowd(sim, env.sizes), env.sizes.results
	for i := range n {
		crowd.say(i)
	}
	env.progress.say("%d results of %d groups wait, by %s", n, env.sizes.groups, by.name)

	var begun time.Time
	var once sync.Once
	by.began(sim, func() { once.Do(func() { begun = time.Now() }) })
	messages, leave := sim.Subscribe()
	defer leave()
	bot, err := by.launch(ctx, env, sim, db.url)
	if err != nil {
		return nil, err
	}
	recorded, told, err := awaitResults(ctx, env, bot, db, messages, n)
	var rss []figure
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
	return append([]figure{
		{Name: name + ".recorded", Value: perSecond(n, recorded.Sub(begun)), Unit: "results/s", Better: higher},
		{Name: name + ".told", Value: perSecond(n, told.Sub(begun)), Unit: "results/s", Better: higher},
		{Name: name + ".messages", Value: float64(sim.CallCount("sendMessage")), Unit: "messages", Better: lower},
	}, rss...), nil
}

// awaitResults returns when so many results were recorded, and when they were told.
func awaitResults(
	ctx context.Context, env *environment, bot *process, db database, messages <-chan botsim.Message, n int,
) (recorded, told time.Time, err error) {
	ctx, cancel := bot.during(ctx)
	defer cancel()
	both, ctx := errgroup.WithContext(ctx)
	both.Go(func() (err error) {
		recorded, err = awaitRecorded(ctx, db, n)
		return err
	})
	both.Go(func() (err error) {
		told, err = newTally().wait(ctx, messages, n, env.progress)
		return err
	})
	err = both.Wait()
	if told.Before(recorded) { // what is told is recorded, even if nobody has looked yet
		recorded = told
	}
	return recorded, told, err
}

// awaitRecorded returns when so many matches are in the database.
func awaitRecorded(ctx context.Context, db database, n int) (time.Time, error) {
	tick := time.NewTicker(recordedEvery)
	defer tick.Stop()
	for {
		var recorded int
		// a few hundred rows, where the matches are thousands; a new match draws its number in its transaction
		err := db.QueryRow(ctx, `SELECT coalesce(sum(last_match_number), 0) FROM groups`).Scan(&recorded)
		switch {
		case err != nil:
			return time.Time{}, fmt.Errorf("count what is recorded: %w", err)
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

// complaintsOf is an error if the simulator has seen a careless request.
func complaintsOf(sim *botsim.Server) error {
	if complaints := sim.Complaints(); len(complaints) > 0 {
		return fmt.Errorf("the simulator complains: %s", strings.Join(complaints, "; "))
	}
	return nil
}
