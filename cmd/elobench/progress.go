package main

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// progressEvery is the interval between progress messages of a long measurement.
const progressEvery = 2 * time.Second

// progress prints progress messages.
type progress struct {
	mu        sync.Mutex
	out       io.Writer
	startedAt time.Time
}

func newProgress(out io.Writer) *progress { return &progress{out: out, startedAt: time.Now()} }

// log prints a line with the seconds since the start.
func (p *progress) log(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	// progress messages are optional
	_, _ = fmt.Fprintf(p.out, "%6.1fs  %s\n", time.Since(p.startedAt).Seconds(), fmt.Sprintf(format, args...))
}
