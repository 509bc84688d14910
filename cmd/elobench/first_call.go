package main

import (
	"context"
	"fmt"
	"time"

	"elobot/internal/botsim"
)

// firstCall returns a channel that receives the time of the next call of a method. The caller must call remove when it no
// longer needs the channel.
func firstCall(sim *botsim.Server, method string) (first <-chan time.Time, remove func()) {
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

// awaitCall waits for the time from firstCall.
func (p *process) awaitCall(ctx context.Context, first <-chan time.Time) (time.Time, error) {
	ctx, cancel := p.during(ctx)
	defer cancel()
	timeout := time.NewTimer(silenceTimeout)
	defer timeout.Stop()
	select {
	case at := <-first:
		return at, nil
	case <-timeout.C:
		return time.Time{}, fmt.Errorf("the bot makes no request: %s", p.output.tail())
	case <-ctx.Done():
		return time.Time{}, fmt.Errorf("wait for the bot's first request: %w", context.Cause(ctx))
	}
}
