//go:build soak

package ranking_test

import (
	"flag"
	"testing"
	"time"

	"elobot/internal/ranking"
)

var (
	contentionFor  = flag.Duration("contention.for", 20*time.Second, "duration of the contention tests")
	contentionSeed = flag.Uint64("contention.seed", 0, "seed of the contention tests; 0 for a random one, which is logged")
)

// TestContentionOfProcesses checks the same as TestContention, but with separate processes and more
// clients, and for the duration in the flag -contention.for.
func TestContentionOfProcesses(t *testing.T) {
	t.Parallel()
	f := newFleet(t, newGame(t))
	for slot := range instances {
		f.launch(slot)
	}
	f.waitUntil(*contentionFor)
	f.stopAll()
	f.check()
}

// check compares the stored data with the requests and answers, and logs statistics.
func (f *fleet) check() {
	f.t.Helper()
	took := time.Since(f.started)
	l := contentionCheck{f.t, f.g, f.requests}.check()
	retries := f.conflicts[1] + f.conflicts[2] + f.conflicts[3]
	f.t.Logf("%.1f s, %.0f results a second", took.Seconds(), float64(len(l.claims))/took.Seconds())
	f.t.Logf("%d conflicts (by attempt: %v), %d retries, %d give-ups; %d repeats because the database was away; "+
		"the longest request took %.1f s",
		retries+f.conflicts[4], f.conflicts, retries, l.refused[ranking.TooManyAtOnce], f.repeated, f.longest.Seconds())
	for _, line := range f.lockedConflicts {
		f.t.Log(line)
	}
	f.mustNotFail()
}
