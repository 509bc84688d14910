package app

import (
	"context"
	"log/slog"
	"time"
)

const (
	// clockTolerance is how far clocks may differ without a warning.
	clockTolerance = 30 * time.Second
	clockCheck     = 5 * time.Second
	// clockWarning is how often the warning about the same difference is repeated.
	clockWarning = time.Hour
)

// namedClock is one of the clocks that should agree. now returns false until the clock has been read.
type namedClock struct {
	name string
	now  func() (time.Time, bool)
}

// clockPair is two clocks and the last warning about them.
type clockPair struct {
	a, b        namedClock
	warnedAt    time.Time     // zero: never
	warnedAhead time.Duration // by how much a was ahead of b then
}

// watchClocks warns about clocks that differ, until the context ends: once an hour, and when the difference changes.
func watchClocks(ctx context.Context, log *slog.Logger, clocks ...namedClock) {
	var pairs []*clockPair
	for i, a := range clocks {
		for _, b := range clocks[i+1:] {
			pairs = append(pairs, &clockPair{a: a, b: b})
		}
	}
	tick := time.NewTicker(clockCheck)
	defer tick.Stop()
	for {
		for _, p := range pairs {
			p.check(ctx, log)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (p *clockPair) check(ctx context.Context, log *slog.Logger) {
	a, known := p.a.now()
	b, alsoKnown := p.b.now()
	ahead := a.Sub(b)
	isDue := (ahead-p.warnedAhead).Abs() > clockTolerance || time.Since(p.warnedAt) >= clockWarning
	if !known || !alsoKnown || ahead.Abs() <= clockTolerance || !isDue {
		return
	}
	p.warnedAt, p.warnedAhead = time.Now(), ahead
	fast, slow := p.a.name, p.b.name
	if ahead < 0 {
		fast, slow = slow, fast
	}
	log.WarnContext(ctx, "clocks differ, please synchronize them", "ahead", fast, "behind", slow,
		"difference_ms", ahead.Abs().Milliseconds())
}

// ownClock is the clock of this machine.
func ownClock() (time.Time, bool) { return time.Now().Round(0), true }
