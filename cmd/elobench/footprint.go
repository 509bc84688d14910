package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// sampleEvery is how often a process is asked for its memory.
const sampleEvery = 100 * time.Millisecond

// footprint watches the memory of a bot for a while, in which it is left alone, and returns the median, and the most
// that the bot has had since it began.
func (e *environment) footprint(ctx context.Context, bot *process, name string) ([]figure, error) {
	ctx, cancel := bot.during(ctx)
	defer cancel()
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	over := time.NewTimer(e.sizes.steady)
	defer over.Stop()
	var samples []float64
	for {
		now, peak, err := resident(bot.cmd.Process.Pid)
		if err != nil {
			return nil, errors.Join(err, context.Cause(ctx))
		}
		samples = append(samples, now)
		select {
		case <-tick.C:
		case <-over.C:
			return []figure{
				{Name: name, Value: megabytes(median(samples)), Unit: "MB", Better: lower},
				{Name: name + ".peak", Value: megabytes(peak), Unit: "MB", Better: lower},
			}, nil
		case <-ctx.Done():
			return nil, fmt.Errorf("watch the bot's memory: %w", context.Cause(ctx))
		}
	}
}

// peak returns the most memory that a running bot has had, or nothing where the machine does not tell.
func (e *environment) peak(bot *process, name string) ([]figure, error) {
	_, peak, err := resident(bot.cmd.Process.Pid)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		e.progress.say("%s is left out: it is measured on Linux alone", name)
		return nil, nil
	case err != nil:
		return nil, err
	}
	return []figure{{Name: name, Value: megabytes(peak), Unit: "MB", Better: lower}}, nil
}
