package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// resident returns the resident memory of a process and its peak, in bytes.
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

// kibibytes returns the number of bytes in a line of a process's status, such as "VmRSS:	   12345 kB". It returns an error
// for a process that has ended, which has no such line.
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
