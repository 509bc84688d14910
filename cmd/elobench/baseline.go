package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"elobot/internal/botsim"
)

// baseline measures the limits of this machine on either side of the bot: what the database takes when a match is written
// statement by statement, and what a bot can answer that does nothing else.
func baseline() scenario {
	return scenario{
		name:        "baseline",
		description: "pgbench with the plain transaction of a match, and a bot that only echoes",
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

// measureEcho returns how many messages a second the echo bot answers, from its first request for updates on, where they
// all wait when it starts.
func measureEcho(ctx context.Context, env *environment) (float64, error) {
	sim, err := botsim.New(botsim.WithRecordLimit(1000))
	if err != nil {
		return 0, err
	}
	defer sim.Close()
	crowd, n := newCrowd(sim, env.sizes), env.sizes.results
	for i := range n {
		crowd.say(i)
	}
	env.progress.say("%d messages wait for the echo bot", n)

	var begun time.Time
	var once sync.Once
	polling.began(sim, func() { once.Do(func() { begun = time.Now() }) })
	messages, leave := sim.Subscribe()
	defer leave()
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
	}, func() { env.progress.say("%d of %d messages are answered", answered, n) })
	if err = errors.Join(err, bot.stop()); err != nil {
		return 0, fmt.Errorf("echo: %w", err)
	}
	return perSecond(n, last.Sub(begun)), nil
}
