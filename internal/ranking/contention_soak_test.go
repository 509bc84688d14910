//go:build soak

package ranking_test

import (
	"flag"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/ranking"
)

var (
	contentionFor  = flag.Duration("contention.for", 20*time.Second, "how long instances of the service contend")
	contentionSeed = flag.Uint64("contention.seed", 0, "repeats a test of contention with the seed that it printed")
)

// TestContentionOfProcesses is TestContention with instances in processes of their own, for some time.
func TestContentionOfProcesses(t *testing.T) {
	t.Parallel()
	f := newFleet(t, newGame(t))
	for slot := range instances {
		f.launch(slot)
	}
	f.waitUntil(*contentionFor)
	f.dismiss()
	f.check()
}

// check compares all that is stored with what was ordered and with what the answers say, and tells how it went.
func (f *fleet) check() {
	f.t.Helper()
	took := time.Since(f.begun)
	l := trial{f.t, f.g, f.orders}.check()
	retries := f.conflicts[1] + f.conflicts[2] + f.conflicts[3]
	f.t.Logf("%.1f s, %.0f results a second", took.Seconds(), float64(len(l.claims))/took.Seconds())
	f.t.Logf("%d conflicts (by attempt: %v), %d retries, %d give-ups; %d tries more because the database was away; "+
		"the longest order took %.1f s",
		retries+f.conflicts[4], f.conflicts, retries, l.refused[ranking.TooManyAtOnce], f.repeated, f.longest.Seconds())
	for _, line := range f.late {
		f.t.Log(line)
	}
	f.mustBeQuiet()
}

// connect returns connections that go with the test.
func connect(tb testing.TB, url string) *pgxpool.Pool {
	tb.Helper()
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		tb.Fatal(err)
	}
	config.MaxConns = 8
	pool, err := pgxpool.NewWithConfig(tb.Context(), config)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(pool.Close)
	return pool
}
