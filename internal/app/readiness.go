package app

import (
	"context"
	"sync"
	"time"

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

// readiness answers whether an instance is ready.
type readiness struct {
	bot    *instance
	clocks []namedClock

	mu    sync.Mutex
	asked time.Time // when the database was asked last
	err   error     // its answer
}

// check reports whether the database answers and has the schema of this release. Clocks and the lease are only reported.
func (r *readiness) check(ctx context.Context) web.Readiness {
	state := web.Readiness{Ready: true, Leader: r.bot.lease.Remaining() > 0, Ahead: make(map[string]float64)}
	if r.database(ctx) != nil {
		state.Ready, state.Problem = false, "the database does not answer, or does not have the schema of this release"
	}
	for _, c := range r.clocks {
		if now, known := c.now(); known {
			state.Ahead[c.name] = time.Until(now).Round(time.Millisecond).Seconds()
		}
	}
	return state
}

// database asks the database, unless that has just been done.
func (r *readiness) database(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.asked) < readinessValid {
		return r.err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readinessTimeout) // the answer is everybody's
	defer cancel()
	r.err = postgres.CheckSchema(ctx, r.bot.pools.Auxiliary, migrations.FS)
	r.asked = time.Now()
	return r.err
}
