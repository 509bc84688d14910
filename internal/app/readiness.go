package app

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"elobot/internal/outbox"
	"elobot/internal/postgres"
	"elobot/internal/web"
	"elobot/migrations"
)

const (
	// readinessTimeout limits how long a health check waits for the database.
	readinessTimeout = 2 * time.Second
	// readinessValid is how long the database's answer is used again: anybody may ask, however often.
	readinessValid = time.Second
)

// readiness answers whether an instance is ready, from before there is one.
type readiness struct {
	awaited atomic.Pointer[string]  // what the start waits for
	running atomic.Pointer[running] // nil until the instance runs

	mu    sync.Mutex
	asked time.Time // when the database was asked last
	err   error     // its answer
}

// running is what readiness asks.
type running struct {
	bot    *instance
	schema func(context.Context) error // whether the database answers and has the schema of this release
	clocks []namedClock
}

// namedClock is a clock that should agree with that of this machine. now returns false until the clock has been read.
type namedClock struct {
	name string
	now  func() (time.Time, bool)
}

// await notes what the start waits for.
func (r *readiness) await(what string) { r.awaited.Store(&what) }

// started notes that the instance runs.
func (r *readiness) started(b *instance, clocks []namedClock) {
	r.running.Store(&running{
		bot:    b,
		schema: func(ctx context.Context) error { return postgres.CheckSchema(ctx, b.pools.Auxiliary, migrations.FS) },
		clocks: clocks,
	})
}

// stats returns the stats of the instance. Before it runs they are those of one on standby.
func (r *readiness) stats() outbox.Stats {
	if current := r.running.Load(); current != nil {
		return current.bot.dispatcher.Stats()
	}
	return outbox.Stats{}
}

// check is true if the instance runs, and the database answers and has the schema of this release. Clocks and the lease are only reported.
func (r *readiness) check(ctx context.Context) web.Readiness {
	state := web.Readiness{Ahead: make(map[string]float64)}
	current := r.running.Load()
	if current == nil {
		state.Problem = "starting"
		if what := r.awaited.Load(); what != nil {
			state.Problem += ", waiting for " + *what
		}
		return state
	}
	state.Ready, state.Leader = true, current.bot.lease.Remaining() > 0
	if r.database(ctx, current.schema) != nil {
		state.Ready, state.Problem = false, "the database does not answer, or does not have the schema of this release"
	}
	for _, c := range current.clocks {
		if now, known := c.now(); known {
			state.Ahead[c.name] = time.Until(now).Round(time.Millisecond).Seconds()
		}
	}
	return state
}

// database asks the database, unless that has just been done.
func (r *readiness) database(ctx context.Context, ask func(context.Context) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.asked) < readinessValid {
		return r.err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readinessTimeout) // the answer is everybody's
	defer cancel()
	r.err = ask(ctx)
	r.asked = time.Now()
	return r.err
}
