package main

import (
	"context"
	"os"
	"runtime/debug"

	"elobot/internal/app"
	"elobot/internal/release"
)

// garbagePercent is how much garbage the heap may hold before a collection, in percent of the
// memory in use. Less than 10 MB is in use. So at the cost of at most 25 MB, a busy bot takes an
// eighth less processor time.
const garbagePercent = 300

type runCommand struct {
	app.Config
}

func (r *runCommand) Run(ctx context.Context) error {
	if err := r.Resolve(); err != nil {
		return err
	}
	log := r.Logger()
	log.InfoContext(ctx, "starting", "version", release.Name())
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
	return app.Run(ctx, r.Config, log)
}
