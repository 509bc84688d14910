package postgres

import (
	"context"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// leaseLock is the key of the advisory lock that goes with the lease $1. Whoever writes under the lease shares it to the
// end of the transaction, and whoever takes the lease over holds it alone: so that comes after what has passed the check.
// The lease's row would serve as well, but sharing that by many makes the server keep who they are.
const leaseLock = `hashtextextended('elobot lease ' || $1, 0)`

// maxStandstill is how long a transaction under the lease may do nothing. One of a process at work may well do nothing for a
// second or two.
const maxStandstill = 5 * time.Second

// queueEpoch queues the beginning of what is done under a lease. It fails with outbox.ErrLeaseLost if the lease is of
// another epoch by now. The lease is looked at by a statement of its own, which sees what whoever had the lock has
// committed.
func queueEpoch(batch *pgx.Batch, name string, epoch int64) {
	batch.Queue(`SELECT pg_advisory_xact_lock_shared(`+leaseLock+`)`, name)
	batch.Queue(`SELECT EXISTS (SELECT FROM leases WHERE name = $1 AND epoch = $2)::lease_held`, name, epoch)
}

// Under returns a store that changes something only as long as nobody has taken over the lease since it was acquired:
// every transaction that writes fails with outbox.ErrLeaseLost otherwise. So whatever a process has begun that stood still
// meanwhile comes to nothing.
func (s *Store) WithLease(l *Lease) *Store {
	under := *s
	under.lease, under.batchWriter = l, new(batchWriter)
	return &under
}

// Under returns the dead letters as the holder of a lease keeps them: Keep fails with outbox.ErrLeaseLost when somebody
// has taken the lease over.
func (d *DeadLetters) WithLease(l *Lease) *DeadLetters {
	under := *d
	under.lease = l
	return &under
}

// Under returns a purger that removes nothing any more when somebody has taken over the lease: Purge fails with
// outbox.ErrLeaseLost, and Run ends.
func (p *Purger) WithLease(l *Lease) *Purger {
	under := *p
	under.lease = l
	return &under
}

// require begins a batch that is done under the lease. Of no lease nothing is required.
func (l *Lease) require(batch *pgx.Batch) {
	if l != nil {
		queueEpoch(batch, l.name, l.Epoch())
	}
}

// transact runs fn in a transaction as the function of that name does, under the lease if there is one. Whoever does
// nothing for seconds with the lock of the lease is cut off by the server: a process that stands still must not keep others
// from taking over.
func (l *Lease) transact(ctx context.Context, pool *pgxpool.Pool, fn func(pgx.Tx) error) error {
	return transact(ctx, pool, func(tx pgx.Tx) error {
		if l != nil {
			var batch pgx.Batch
			batch.Queue(`SELECT set_config('idle_in_transaction_session_timeout', $1, true)`,
				strconv.FormatInt(l.standstill.Milliseconds(), 10))
			l.require(&batch)
			if err := tx.SendBatch(ctx, &batch).Close(); err != nil {
				return err
			}
		}
		return fn(tx)
	})
}
