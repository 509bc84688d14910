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

var errUnwell = errors.New("something needs your attention: see the lines with ✗")

// Run prints a line for each thing that the bot needs. It is an error if something is wrong.
func (d *doctorCommand) Run(ctx context.Context) error {
	wrong := false
	d.Examine(ctx, func(f app.Finding) {
		mark := "✓"
		if !f.Well {
			mark, wrong = "✗", true
		}
		fmt.Printf("%s %-13s %s\n", mark, f.About, escapeInvisible(f.Text))
	})
	if wrong {
		return errUnwell
	}
	return nil
}
