package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Internals for tests.
var (
	LaneLists        = laneLists
	ReadLanes        = readLanes
	NextNotification = next
)

// SetIdleTimeout sets how long a transaction under the lease may be idle.
func (l *Lease) SetIdleTimeout(timeout time.Duration) { l.idleTimeout = timeout }

// Transact runs a function in a transaction under the lease.
func (l *Lease) Transact(ctx context.Context, fn func(pgx.Tx) error) error {
	return l.transact(ctx, l.pool, fn)
}
