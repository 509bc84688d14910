package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"elobot/internal/botsim"
)

// baseline measures the limits of this machine on both sides of the bot: how fast the database executes a plain match
// transaction, and how fast a bot that only echoes can answer.
func baseline() scenario {
	return scenario{
		name:        "baseline",
		description: "pgbench with a plain match transaction, and a bot that only echoes",
		run: func(ctx context.Context, env *environment) ([]figure, error) {
			var figures []figure
			transactions, pgbenchErr := measurePgbench(ctx, env)
			if pgbenchErr == nil {
				figures = append(figures, figure{Name: "baseline.pgbench", Value: transactions, Unit: "transactions/s", Better: higher})
			}
			if ctx.Err() != nil {
				return figures, pgbenchErr
			}
			messages, echoErr := measureEcho(ctx, env)
			if echoErr == nil {
				figures = append(figures, figure{Name: "baseline.echo", Value: messages, Unit: "messages/s", Better: higher})
			}
			return figures, errors.Join(pgbenchErr, echoErr)
		},
	}
}

// measureEcho returns how many messages per second the echo bot answers. All messages wait when it starts; the time starts
// at its first request for updates.
func measureEcho(ctx context.Context, env *environment) (float64, error) {
	sim, err := botsim.New(botsim.WithRecordLimit(1000))
	if err != nil {
		return 0, err
	}
	defer sim.Close()
	load, n := newWorkload(sim, env.sizes), env.sizes.results
	for i := range n {
		load.reportMatch(i)
	}
	env.progress.log("%d messages wait for the echo bot", n)

	var startedAt time.Time
	var once sync.Once
	polling.onDelivery(sim, func() { once.Do(func() { startedAt = time.Now() }) })
	messages, unsubscribe := sim.Subscribe()
	defer unsubscribe()
	bot, err := env.launchEcho(ctx, sim, "")
	if err != nil {
		return 0, err
	}
	running, cancel := bot.during(ctx)
	defer cancel()
	answered := 0
	last, err := waitMessages(running, messages, func(botsim.Message) bool {
		answered++
		return answered >= n
	}, func() { env.progress.log("%d of %d messages are answered", answered, n) })
	if err = errors.Join(err, bot.stop()); err != nil {
		return 0, fmt.Errorf("echo: %w", err)
	}
	return perSecond(n, last.Sub(startedAt)), nil
}
