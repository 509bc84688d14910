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
	// readinessTimeout limits how long the database may take to answer.
	readinessTimeout = 2 * time.Second
	// readinessValid is how long the database's answer is reused, so that health checks cannot
	// flood the database: anyone may send any number of them.
	readinessValid = time.Second
)

// readiness answers health checks, even before the instance exists.
type readiness struct {
	awaited atomic.Pointer[string]   // what the start waits for; set before any health check
	running atomic.Pointer[instance] // nil until the instance runs

	mu    sync.Mutex
	asked time.Time // when the database was last asked
	err   error     // the result of asking; nil if the database answered as expected
}

func (r *readiness) await(what string) { r.awaited.Store(&what) }

// stats returns the instance's stats, or the zero Stats before the instance runs.
func (r *readiness) stats() outbox.Stats {
	if b := r.running.Load(); b != nil {
		return b.dispatcher.Stats()
	}
	return outbox.Stats{}
}

// check reports an instance as ready if it runs, the database answers, and the database has the
// schema of this release. An instance need not hold the lease to be ready.
func (r *readiness) check(ctx context.Context) web.Readiness {
	b := r.running.Load()
	if b == nil {
		return web.Readiness{Problem: "starting, waiting for " + *r.awaited.Load()}
	}
	state := web.Readiness{Ready: true, Leader: b.lease.Remaining() > 0}
	schema := func(ctx context.Context) error { return postgres.CheckSchema(ctx, b.pools.Auxiliary, migrations.FS) }
	if r.database(ctx, schema) != nil {
		state.Ready, state.Problem = false, "the database does not answer, or does not have the schema of this release"
	}
	return state
}

// database asks the database, or returns its last answer if that is recent enough.
func (r *readiness) database(ctx context.Context, ask func(context.Context) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.asked) < readinessValid {
		return r.err
	}
	// Other health checks share the answer, so the end of this check must not cancel the question.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readinessTimeout)
	defer cancel()
	r.err = ask(ctx)
	r.asked = time.Now()
	return r.err
}
