package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// resident returns how much of the machine's memory a process has, and the most that it has ever had, in bytes.
func resident(pid int) (now, peak float64, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, fmt.Errorf("read the memory of a process: %w", err)
	}
	if now, err = kibibytes(string(status), "VmRSS:"); err != nil {
		return 0, 0, err
	}
	peak, err = kibibytes(string(status), "VmHWM:")
	return now, peak, err
}

// kibibytes returns the bytes that a line of a process's status tells of, such as "VmRSS:	   12345 kB". A process that
// has ended has no such line.
func kibibytes(status, name string) (float64, error) {
	for line := range strings.Lines(status) {
		fields := strings.Fields(line)
		if len(fields) != 3 || fields[0] != name || fields[2] != "kB" {
			continue
		}
		n, err := strconv.ParseUint(fields[1], 10, 64)
		if err != nil {
			return 0, fmt.Errorf("read %s %w", name, err)
		}
		return float64(n) * 1024, nil
	}
	return 0, fmt.Errorf("the status of the process has no %s", name)
}
