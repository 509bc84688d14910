package main

import (
	"context"
	"fmt"
	"time"

	"elobot/internal/botsim"
)

// firstCall returns a channel that gets the moment of the first call of a method from now on. Whoever does not need it
// any more calls forget.
func firstCall(sim *botsim.Server, method string) (first <-chan time.Time, forget func()) {
	at := make(chan time.Time, 1)
	return at, sim.OnCall(func(c botsim.Call) {
		if c.Method != method {
			return
		}
		select {
		case at <- c.At:
		default: // not the first
		}
	})
}

// awaitCall waits for the moment that firstCall has promised.
func (p *process) awaitCall(ctx context.Context, first <-chan time.Time) (time.Time, error) {
	ctx, cancel := p.during(ctx)
	defer cancel()
	patience := time.NewTimer(silence)
	defer patience.Stop()
	select {
	case at := <-first:
		return at, nil
	case <-patience.C:
		return time.Time{}, fmt.Errorf("the bot does not begin: %s", p.output.tail())
	case <-ctx.Done():
		return time.Time{}, fmt.Errorf("wait until the bot begins: %w", context.Cause(ctx))
	}
}
