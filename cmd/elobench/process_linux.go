package main

import (
	"fmt"
	"time"

	"github.com/prometheus/procfs"
)

// resident returns the resident memory of a process and its peak, in bytes.
func resident(pid int) (now, peak float64, err error) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0, 0, fmt.Errorf("read the memory of a process: %w", err)
	}
	status, err := p.NewStatus()
	switch {
	case err != nil:
		return 0, 0, fmt.Errorf("read the memory of a process: %w", err)
	case status.VmRSS == 0:
		return 0, 0, fmt.Errorf("process %d has ended", pid)
	}
	return float64(status.VmRSS), float64(status.VmHWM), nil
}

// clockTick is the unit of processor times in /proc, on all architectures that Go supports.
const clockTick = 10 * time.Millisecond

// processorTime returns the processor time that a process and its children have used, including children that have ended.
func processorTime(pid int) (time.Duration, error) {
	all, err := procfs.AllProcs()
	if err != nil {
		return 0, fmt.Errorf("list processes: %w", err)
	}
	var ticks int
	found := false
	for _, p := range all {
		s, err := p.Stat()
		if err != nil || s.PID != pid && s.PPID != pid { // a process that has just ended cannot be read
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
