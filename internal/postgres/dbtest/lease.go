package dbtest

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/postgres"
	"elobot/internal/postgres/pgranking"
)

// Leader returns the leader's lease for a holder, with a duration of an hour. It does not acquire
// the lease.
func Leader(pool *pgxpool.Pool, holder string) *postgres.Lease {
	return postgres.NewLease(pool, postgres.LeaderLease, holder, time.Hour)
}

// Acquire tries to acquire a lease, and checks that the outcome is want.
func Acquire(t *testing.T, l *postgres.Lease, want bool) {
	t.Helper()
	if got, err := l.Acquire(t.Context()); err != nil || got != want {
		t.Fatalf("acquired: %t (%v), want %t", got, err, want)
	}
}

// RunsOut is a statement that makes all leases expire.
const RunsOut = `UPDATE leases SET expires_at = clock_timestamp()`

// AsLeader acquires the leader's lease for the holder "a", and returns a store under the lease, and
// the lease.
func (w *World) AsLeader(t *testing.T) (*pgranking.Store, *postgres.Lease) {
	t.Helper()
	lease := Leader(w.Pool, "a")
	Acquire(t, lease, true)
	return w.Store.WithLease(lease), lease
}
