package main

import (
	"context"
	"errors"
	"time"

	"elobot/internal/botsim"
)

// start measures how long the bot is away when it is restarted.
func start() scenario {
	return scenario{
		name:        "start",
		description: "from the start of the program to its first request for updates, on a database that is up to date",
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

// measureStart starts a bot, stops it again, and returns how long it took until it asked for updates.
func measureStart(ctx context.Context, env *environment, sim *botsim.Server, db database) (time.Duration, error) {
	polled, forget := firstCall(sim, "getUpdates")
	defer forget()
	begun := time.Now()
	bot, err := env.launchBot(ctx, sim, db.url)
	if err != nil {
		return 0, err
	}
	at, err := bot.awaitCall(ctx, polled)
	return at.Sub(begun), errors.Join(err, bot.stop())
}
