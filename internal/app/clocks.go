package app

import (
	"context"
	"log/slog"
	"time"
)

const (
	// clockTolerance is by how much clocks may differ before somebody should know.
	clockTolerance = 30 * time.Second
	clockCheck     = 5 * time.Second
	// clockWarning is how often a difference that stays is warned of.
	clockWarning = time.Hour
)

// namedClock is one of the clocks that should show the same. now returns false as long as nothing is known of it.
type namedClock struct {
	name string
	now  func() (time.Time, bool)
}

// clockPair is two clocks, and what was said of them.
type clockPair struct {
	a, b   namedClock
	warned time.Time     // zero: never
	said   time.Duration // by how much a was ahead then
}

// watchClocks warns of clocks that differ, until the context ends: once an hour, and when the difference changes.
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
	isNews := (ahead-p.said).Abs() > clockTolerance || time.Since(p.warned) >= clockWarning
	if !known || !alsoKnown || ahead.Abs() <= clockTolerance || !isNews {
		return
	}
	p.warned, p.said = time.Now(), ahead
	fast, slow := p.a.name, p.b.name
	if ahead < 0 {
		fast, slow = slow, fast
	}
	log.WarnContext(ctx, "clocks differ, please have them synchronized", "ahead", fast, "behind", slow,
		"difference_ms", ahead.Abs().Milliseconds())
}

// ownClock is the clock of this machine.
func ownClock() (time.Time, bool) { return time.Now().Round(0), true }
