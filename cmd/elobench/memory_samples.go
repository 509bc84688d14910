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

// processorTime returns the processor time that the bot and PostgreSQL have used so far, 0 where it cannot be measured: on
// systems other than Linux, and with a server in a container.
func (e *environment) processorTime(bot *process) (time.Duration, error) {
	if e.server.PID() == 0 {
		return 0, nil
	}
	var sum time.Duration
	for _, pid := range []int{bot.cmd.Process.Pid, e.server.PID()} {
		used, err := processorTime(pid)
		switch {
		case errors.Is(err, errors.ErrUnsupported):
			return 0, nil
		case err != nil:
			return 0, err
		}
		sum += used
	}
	return sum, nil
}
