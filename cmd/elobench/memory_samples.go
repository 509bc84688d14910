package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// sampleEvery is the interval between samples of a process's memory.
const sampleEvery = 100 * time.Millisecond

// sampleMemory samples the memory of an idle bot for a while. It returns the median, and the peak since the bot's start.
func (e *environment) sampleMemory(ctx context.Context, bot *process, name string) ([]figure, error) {
	ctx, cancel := bot.during(ctx)
	defer cancel()
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	deadline := time.NewTimer(e.sizes.steady)
	defer deadline.Stop()
	var samples []float64
	for {
		now, peak, err := resident(bot.cmd.Process.Pid)
		if err != nil {
			return nil, errors.Join(err, context.Cause(ctx))
		}
		samples = append(samples, now)
		select {
		case <-tick.C:
		case <-deadline.C:
			return []figure{
				{Name: name, Value: megabytes(median(samples)), Unit: "MB", Better: lower},
				{Name: name + ".peak", Value: megabytes(peak), Unit: "MB", Better: lower},
			}, nil
		case <-ctx.Done():
			return nil, fmt.Errorf("sample the bot's memory: %w", context.Cause(ctx))
		}
	}
}

// peak returns the peak memory of a running bot, or no figure on systems other than Linux.
func (e *environment) peak(bot *process, name string) ([]figure, error) {
	_, peak, err := resident(bot.cmd.Process.Pid)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		e.progress.log("skipping %s: it can be measured only on Linux", name)
		return nil, nil
	case err != nil:
		return nil, err
	}
	return []figure{{Name: name, Value: megabytes(peak), Unit: "MB", Better: lower}}, nil
}
