package postgres

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// leaseLock is the key of the advisory lock for the lease $1. Those who write under the lease share it until their transaction ends.
// Whoever takes over the lease holds it exclusively, and so waits for all transactions that have passed the check. The row of the lease
// would serve as well, but sharing a row lock makes the server keep track of the holders.
const leaseLock = `hashtextextended('elobot lease ' || $1, 0)`

// maxIdle is how long a transaction under the lease may be idle. A healthy process may well be idle for a second or two.
const maxIdle = 5 * time.Second

// QueueEpoch adds the check that must be first in a batch that runs under a lease. The batch fails with outbox.ErrLeaseLost if the lease
// has another epoch. The check must be a statement of its own: it starts after the lock was granted, and so sees what the previous holder
// of the lock has committed.
func QueueEpoch(batch *pgx.Batch, name string, epoch int64) {
	batch.Queue(`SELECT pg_advisory_xact_lock_shared(`+leaseLock+`)`, name)
	batch.Queue(`SELECT EXISTS (SELECT FROM leases WHERE name = $1 AND epoch = $2)::lease_held`, name, epoch)
}

// Require adds the check that must be first in a batch that runs under the lease. A nil lease adds nothing.
func (l *Lease) Require(batch *pgx.Batch) {
	if l != nil {
		QueueEpoch(batch, l.name, l.Epoch())
	}
}

// Begin adds what begins a transaction that stays open under the lease. The server ends the session if the transaction is idle for too
// long, because a stalled process must not keep others from taking over. A nil lease adds nothing.
func (l *Lease) Begin(batch *pgx.Batch) {
	if l == nil {
		return
	}
	batch.Queue(`SELECT set_config('idle_in_transaction_session_timeout', $1, true)`,
		strconv.FormatInt(l.idleTimeout.Milliseconds(), 10))
	l.Require(batch)
}

// BeginTx begins a transaction, as Begin does.
func (l *Lease) BeginTx(ctx context.Context, pool *pgxpool.Pool) (pgx.Tx, error) {
	tx, err := pool.Begin(ctx)
	if err != nil {
		return nil, fmt.Errorf("begin: %w", err)
	}
	var batch pgx.Batch
	l.Begin(&batch)
	if err := tx.SendBatch(ctx, &batch).Close(); err != nil {
		Rollback(ctx, tx)
		return nil, err
	}
	return tx, nil
}

// Transact runs fn in a transaction, as the function Transact does, and under the lease unless that is nil.
func (l *Lease) Transact(ctx context.Context, pool *pgxpool.Pool, fn func(pgx.Tx) error) error {
	return Transact(ctx, pool, func(tx pgx.Tx) error {
		var batch pgx.Batch
		l.Begin(&batch)
		if err := tx.SendBatch(ctx, &batch).Close(); err != nil {
			return err
		}
		return fn(tx)
	})
}
