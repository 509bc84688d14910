package main

import (
	"context"
	"errors"
	"fmt"

	"elobot/internal/app"
)

type doctorCommand struct {
	app.Config
}

var errBrokenOff = errors.New("the examination was broken off")

var errProblemsFound = errors.New("something needs your attention: see the lines with ✗")

// Run examines what the bot needs, and prints a line per finding. It returns an error if something
// is wrong or the examination was interrupted.
func (d *doctorCommand) Run(ctx context.Context) error {
	wrong := false
	d.Examine(ctx, func(f app.Finding) {
		mark := "✓"
		if !f.OK {
			mark, wrong = "✗", true
		}
		fmt.Printf("%s %-13s %s\n", mark, f.About, escapeInvisible(f.Text))
	})
	if ctx.Err() != nil {
		return errBrokenOff // not ctx.Err(), which would exit like a clean stop and look healthy
	}
	if wrong {
		return errProblemsFound
	}
	return nil
}
