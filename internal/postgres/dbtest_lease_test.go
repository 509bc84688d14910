package postgres_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/postgres"
)

// leader returns the leader's lease for a holder.
func leader(pool *pgxpool.Pool, holder string) *postgres.Lease {
	return postgres.NewLease(pool, postgres.LeaderLease, holder, time.Hour)
}

// acquire asks for a lease, and checks whether it is granted.
func acquire(t *testing.T, l *postgres.Lease, want bool) {
	t.Helper()
	if got, err := l.Acquire(t.Context()); err != nil || got != want {
		t.Fatalf("acquired: %t (%v), want %t", got, err, want)
	}
}

const runsOut = `UPDATE leases SET expires_at = clock_timestamp()`

// asLeader returns a store under a lease that is held, and the lease.
func (w *world) asLeader(t *testing.T) (*postgres.Store, *postgres.Lease) {
	t.Helper()
	lease := leader(w.pool, "a")
	acquire(t, lease, true)
	return w.store.WithLease(lease), lease
}
