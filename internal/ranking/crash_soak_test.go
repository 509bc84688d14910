//go:build soak

package ranking_test

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"elobot/internal/outbox"
	"elobot/internal/pgtemp"
	"elobot/internal/postgres"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/ranking"
	"elobot/migrations"
)

const (
	crashKills    = 8
	crashRestarts = 4
)

// TestKilledAndRestarted checks that no request is lost or handled twice while instances send
// requests as in TestContention. Now and then, an instance is killed, or the database crashes. The
// replacement of a killed instance repeats its predecessor's open requests, as the messenger would.
func TestKilledAndRestarted(t *testing.T) {
	t.Parallel()
	server, g := newServer(t)
	c := &crashTest{fleet: newFleet(t, g), openSince: make(map[string]time.Time)}
	kills, restarts := randomTimes(c.random, crashKills), randomTimes(c.random, crashRestarts)
	for slot := range instances {
		c.launch(slot)
	}
	restarted := c.restartAt(server, restarts)
	for i, at := range kills {
		c.waitUntil(at)
		c.replace(c.random.IntN(instances), i%2 == 0)
	}
	c.waitUntil(*contentionFor)
	restarted()
	c.stopAll()
	g.pool.Reset() // its connections may be older than a restart
	c.check()
	c.logWindows()
}

// newServer starts a database server for this test alone, and returns it with a game. Commits
// survive a crash of the server.
func newServer(t *testing.T) (*pgtemp.Server, *game) {
	t.Helper()
	server, err := pgtemp.Start(t.Context(), pgtemp.Options{
		// restartAt pauses the server, which is not possible in a container.
		Sources: []pgtemp.Source{pgtemp.Programs, pgtemp.Archive, pgtemp.Packages},
		Settings: map[string]string{
			"fsync": "off", "synchronous_commit": "on", // safe: the operating system does not crash
			"max_connections": "200", // connections of killed instances may linger
		},
	})
	must(t, err)
	t.Cleanup(func() {
		if err := server.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	g := &game{url: server.URL()}
	g.pool = dbtest.Open(t, g.url)
	must(t, postgres.Migrate(t.Context(), g.pool, migrations.FS, slog.New(slog.DiscardHandler)))
	g.store = pgranking.NewStore(g.pool, func(outbox.Lane) {})
	g.Service = g.newServiceOn(g.store, ranking.Settings{ResultsPerMinute: -1})
	return server, g
}

// randomTimes returns n sorted times since the start of the test, none of them close to its start
// or its end.
func randomTimes(random *rand.Rand, n int) []time.Duration {
	all := make([]time.Duration, n)
	for i := range all {
		all[i] = time.Duration((0.05 + 0.85*random.Float64()) * float64(*contentionFor))
	}
	slices.Sort(all)
	return all
}

// crashTest is a fleet whose instances are killed and whose database crashes.
type crashTest struct {
	*fleet
	kills, restarts int

	repeats   int                  // how many requests were repeated after a kill
	committed int                  // how many of the repeated requests had been committed before
	openSince map[string]time.Time // by key, the database time at which a repeated request was not handled yet
}

// restartAt crashes and restarts the database at the given times. The returned function waits for
// the last restart.
func (c *crashTest) restartAt(server *pgtemp.Server, all []time.Duration) (wait func()) {
	ctx, cancel := context.WithCancel(c.t.Context())
	var done sync.WaitGroup
	done.Go(func() {
		for _, at := range all {
			timer := time.NewTimer(time.Until(c.started.Add(at)))
			select {
			case <-timer.C:
			case <-ctx.Done():
				timer.Stop()
				return
			}
			if err := errors.Join(server.Pause(ctx, true), server.Resume(ctx)); err != nil {
				c.fail("%v", err)
				return
			}
			c.restarts++
		}
	})
	c.t.Cleanup(func() {
		cancel()
		done.Wait()
	})
	return done.Wait
}

// replace kills an instance and launches a replacement. If atCommit is true, the instance kills
// itself right after its next commit, before it reports the handled request. Otherwise it is killed
// at once.
func (c *crashTest) replace(slot int, atCommit bool) {
	c.t.Helper()
	p := c.running[slot]
	p.killed.Store(true)
	var err error
	if atCommit {
		err = p.send(killMessage)
	} else {
		err = p.cmd.Process.Kill()
	}
	if err != nil {
		c.t.Fatalf("kill an instance: %v", err)
	}
	c.waitForExit(p)
	if p.cmd.ProcessState.Success() {
		c.t.Fatal("an instance exited by itself")
	}
	c.kills++
	c.checkOpen(slot)
	c.launch(slot)
}

// checkOpen counts the open requests of a killed instance, and how many of them were handled.
// Database sessions of the instance may still be working on the rest, so a repeated request may
// conflict with its own first attempt.
func (c *crashTest) checkOpen(slot int) {
	c.t.Helper()
	var left []string
	for _, o := range c.open[slot] {
		left = append(left, o.key())
	}
	ctx, cancel := context.WithTimeout(c.t.Context(), exitTimeout)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		var now time.Time
		var handled []string
		err := c.g.pool.QueryRow(ctx, `
			SELECT clock_timestamp(), ARRAY(SELECT key FROM handled_commands WHERE key = ANY ($1))`, left).Scan(&now, &handled)
		if err == nil {
			c.repeats += len(left)
			c.committed += len(handled)
			for _, key := range left {
				if !slices.Contains(handled, key) {
					c.openSince[key] = now
				}
			}
			return
		}
		if !postgres.Unavailable(err) {
			c.t.Fatalf("read handled commands: %v", err)
		}
		<-tick.C // then try again, until the database is back
	}
}

// logWindows logs how many requests had been handled before they were repeated, and checks how
// often the database was restarted.
func (c *crashTest) logWindows() {
	c.t.Helper()
	type handled struct {
		Key string
		At  time.Time
	}
	later := 0
	for _, h := range rows[handled](c.t, c.g, `SELECT key, handled_at FROM handled_commands`) {
		if look, there := c.openSince[h.Key]; there && h.At.After(look) {
			later++
		}
	}
	c.t.Logf(`%d kills, %d restarts of the database; repeated requests:
	%5d had been handled before
	%5d had not
	%5d in total`, c.kills, c.restarts, c.committed, later, c.repeats)
	if c.restarts != crashRestarts {
		c.t.Errorf("%d restarts, want %d", c.restarts, crashRestarts)
	}
}
