package main

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// progressEvery is how often a long measurement says how far it is.
const progressEvery = 2 * time.Second

// progress tells whoever watches what is being done.
type progress struct {
	mu    sync.Mutex
	out   io.Writer
	begun time.Time
}

func newProgress(out io.Writer) *progress { return &progress{out: out, begun: time.Now()} }

// say prints a line with the seconds since the beginning.
func (p *progress) say(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	// whoever does not read it does not want to know
	_, _ = fmt.Fprintf(p.out, "%6.1fs  %s\n", time.Since(p.begun).Seconds(), fmt.Sprintf(format, args...))
}
