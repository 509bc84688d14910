package main

import (
	"context"
	"errors"
	"time"

	"elobot/internal/botsim"
)

// start measures how long the bot is unavailable during a restart.
func start() scenario {
	return scenario{
		name:        "start",
		description: "from the start of the program to its first request for updates, on a migrated database",
		run: func(ctx context.Context, env *environment) ([]figure, error) {
			sim, err := botsim.New()
			if err != nil {
				return nil, err
			}
			defer sim.Close()
			db, drop, err := env.database(ctx)
			if err != nil {
				return nil, err
			}
			defer drop()
			took := make([]float64, env.sizes.starts)
			for i := range took {
				one, err := measureStart(ctx, env, sim, db)
				if err != nil {
					return nil, err
				}
				took[i] = milliseconds(one)
			}
			return []figure{{Name: "start.poll", Value: median(took), Unit: "ms", Better: lower}}, nil
		},
	}
}

// measureStart starts and stops a bot and returns the time from its start to its first request for updates.
func measureStart(ctx context.Context, env *environment, sim *botsim.Server, db database) (time.Duration, error) {
	polled, removeHook := firstCall(sim, "getUpdates")
	defer removeHook()
	startedAt := time.Now()
	bot, err := env.launchBot(ctx, sim, db.url)
	if err != nil {
		return 0, err
	}
	at, err := bot.awaitCall(ctx, polled)
	return at.Sub(startedAt), errors.Join(err, bot.stop())
}
