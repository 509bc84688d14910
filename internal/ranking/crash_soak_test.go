//go:build soak

package ranking_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"elobot/internal/outbox"
	"elobot/internal/pgtemp"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
	"elobot/migrations"
)

const (
	crashKills    = 8
	crashRestarts = 4
)

// TestKilledAndRestarted is TestContention while instances are killed and the database crashes. Another instance
// repeats whatever a killed one has begun and not ended, as the messenger does.
func TestKilledAndRestarted(t *testing.T) {
	t.Parallel()
	server, g := newServer(t)
	c := &crashes{fleet: newFleet(t, g), looks: make(map[string]time.Time)}
	kills, restarts := moments(c.random, crashKills), moments(c.random, crashRestarts)
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
	c.dismiss()
	g.pool.Reset() // its connections are those from before a restart, perhaps
	c.check()
	c.checkWindows()
}

// newServer starts a server for this test alone. What it has committed is not lost when it crashes.
func newServer(t *testing.T) (*pgtemp.Server, *game) {
	t.Helper()
	server, err := pgtemp.Start(t.Context(), pgtemp.Options{Settings: map[string]string{
		"fsync": "off", "synchronous_commit": "on", // the operating system does not crash
		"max_connections": "200", // those of killed instances may linger
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	g := &game{url: server.URL()}
	g.pool = connect(t, g.url)
	if err := postgres.Migrate(t.Context(), g.pool, migrations.FS); err != nil {
		t.Fatal(err)
	}
	g.store = postgres.NewStore(g.pool, func(outbox.Lane) {})
	g.Service = ranking.NewService(g.store, slog.New(slog.DiscardHandler), ranking.Settings{ResultsPerMinute: -1})
	return server, g
}

// moments are random ones of the time that a test takes, but for its beginning and its end.
func moments(random *rand.Rand, n int) []time.Duration {
	all := make([]time.Duration, n)
	for i := range all {
		all[i] = time.Duration((0.05 + 0.85*random.Float64()) * float64(*contentionFor))
	}
	slices.Sort(all)
	return all
}

// crashes is a fleet whose instances are killed.
type crashes struct {
	*fleet
	kills, restarts int

	repeats   int                  // orders that were given again after a kill
	committed int                  // those of them that had been handled by then
	looks     map[string]time.Time // when the others had not been handled, by the database's clock
}

// restartAt lets the database crash at certain moments. The function that it returns waits until the last is over.
func (c *crashes) restartAt(server *pgtemp.Server, all []time.Duration) (wait func()) {
	ctx, cancel := context.WithCancel(c.t.Context())
	var done sync.WaitGroup
	done.Go(func() {
		for _, at := range all {
			timer := time.NewTimer(time.Until(c.begun.Add(at)))
			select {
			case <-timer.C:
			case <-ctx.Done():
				timer.Stop()
				return
			}
			if err := server.Restart(ctx, true); err != nil {
				c.complain("%v", err)
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

// replace kills an instance and starts another one in its place. The kill comes at once, or right after the next commit
// of the instance, before it can tell anybody.
func (c *crashes) replace(slot int, atCommit bool) {
	c.t.Helper()
	p := c.running[slot]
	p.killed.Store(true)
	var err error
	if atCommit {
		err = p.tell(dieWord)
	} else {
		err = p.cmd.Process.Kill()
	}
	if err != nil {
		c.t.Fatalf("kill an instance: %v", err)
	}
	c.awaitEnd(p)
	if p.cmd.ProcessState.Success() {
		c.t.Fatal("an instance has ended by itself")
	}
	c.kills++
	c.look(slot)
	c.launch(slot)
}

// look finds out which of the orders that an instance has left open had been handled. The sessions of the instance may
// still be at work on the others, so that what is given again can meet itself.
func (c *crashes) look(slot int) {
	c.t.Helper()
	var left []string
	for _, o := range c.open[slot] {
		left = append(left, o.key())
	}
	ctx, cancel := context.WithTimeout(c.t.Context(), endWithin)
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
					c.looks[key] = now
				}
			}
			return
		}
		if !postgres.Unavailable(err) {
			c.t.Fatalf("look for what has been handled: %v", err)
		}
		<-tick.C // until the database is there again
	}
}

// checkWindows tells which windows the kills have fallen into.
func (c *crashes) checkWindows() {
	c.t.Helper()
	type handled struct {
		Key string
		At  time.Time
	}
	later := 0
	for _, h := range rows[handled](c.t, c.g, `SELECT key, handled_at FROM handled_commands`) {
		if look, there := c.looks[h.Key]; there && h.At.After(look) {
			later++
		}
	}
	c.t.Logf(`%d kills, %d restarts of the database; orders given again:
	%5d had been handled before
	%5d had not
	%5d in all`, c.kills, c.restarts, c.committed, later, c.repeats)
	if c.restarts != crashRestarts {
		c.t.Errorf("%d restarts, want %d", c.restarts, crashRestarts)
	}
}
