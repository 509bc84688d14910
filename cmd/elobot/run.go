package main

import (
	"context"

	"elobot/internal/app"
	"elobot/internal/release"
)

type runCommand struct {
	app.Config
}

// Run runs the bot until the context ends.
func (r *runCommand) Run(ctx context.Context) error {
	if err := r.Resolve(); err != nil {
		return err
	}
	log := r.Logger()
	log.InfoContext(ctx, "starting", "version", release.Name())
	return app.Run(ctx, r.Config, log)
}
