package main

import (
	"fmt"
	"time"

	"github.com/prometheus/procfs"
)

// processorsOf returns how much processor time per result the bot and the database use while do
// handles n results. It omits a time that cannot be read before do runs, as on systems other than
// Linux and for a database in a container.
func (b *bench) processorsOf(bot *process, n int, do func() error) (metrics []metric, err error) {
	botBefore, botErr := processorTime(bot.cmd.Process.Pid)
	databaseBefore, databaseErr := processorTime(b.server.PID())
	if err := do(); err != nil {
		return nil, err
	}
	add := func(pid int, before time.Duration, unit string) {
		var used time.Duration
		if used, err = processorTime(pid); err == nil {
			metrics = append(metrics, metric{float64((used - before).Microseconds()) / float64(n), unit})
		}
	}
	if botErr == nil {
		add(bot.cmd.Process.Pid, botBefore, "bot-µs/result")
	}
	if databaseErr == nil && err == nil {
		add(b.server.PID(), databaseBefore, "db-µs/result")
	}
	return metrics, err
}

// memoryOf returns the bot's resident memory in MB, or nothing if /proc does not list the bot, as
// on systems other than Linux.
func memoryOf(bot *process) ([]metric, error) {
	p, err := procfs.NewProc(bot.cmd.Process.Pid)
	if err != nil {
		return nil, nil //nolint:nilerr // most likely not Linux
	}
	status, err := p.NewStatus()
	if err != nil {
		return nil, fmt.Errorf("read the memory of the bot: %w", err)
	}
	return []metric{{float64(status.VmRSS) / 1e6, "MB"}}, nil
}

// clockTick is the unit of processor times in /proc, on all architectures that Go supports.
const clockTick = 10 * time.Millisecond

// processorTime returns the processor time used by a process and its direct children, including
// children that have ended.
func processorTime(pid int) (time.Duration, error) {
	all, err := procfs.AllProcs()
	if err != nil {
		return 0, fmt.Errorf("list processes: %w", err)
	}
	var ticks int
	found := false
	for _, p := range all {
		s, err := p.Stat()
		// A process that has just ended cannot be read.
		if err != nil || s.PID != pid && s.PPID != pid {
			continue
		}
		ticks += int(s.UTime+s.STime) + s.CUTime + s.CSTime
		found = found || s.PID == pid
	}
	if !found {
		return 0, fmt.Errorf("process %d has ended", pid)
	}
	return time.Duration(ticks) * clockTick, nil
}
