package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// requireEpoch is the beginning of what is done under a lease. It raises an error if the lease is of another epoch by now;
// if not, whoever wants to take it over waits for the end of the transaction.
const requireEpoch = `SELECT require_epoch($1, $2)`

// Under returns a store that changes something only as long as nobody has taken over the lease since it was acquired:
// every transaction that writes fails with outbox.ErrLeaseLost otherwise. So whatever a process has begun that stood still
// meanwhile comes to nothing.
func (s *Store) Under(l *Lease) *Store {
	under := *s
	under.lease = l
	return &under
}

// Under returns the dead letters as the holder of a lease keeps them: Keep fails with outbox.ErrLeaseLost when somebody
// has taken the lease over.
func (d *DeadLetters) Under(l *Lease) *DeadLetters {
	under := *d
	under.lease = l
	return &under
}

// Under returns a purger that removes nothing any more when somebody has taken over the lease: Purge fails with
// outbox.ErrLeaseLost, and Run ends.
func (p *Purger) Under(l *Lease) *Purger {
	under := *p
	under.lease = l
	return &under
}

// require begins a batch that is done under the lease. Of no lease nothing is required.
func (l *Lease) require(batch *pgx.Batch) {
	if l != nil {
		batch.Queue(requireEpoch, l.name, l.Epoch())
	}
}

// transact runs fn in a transaction as the function of that name does, under the lease if there is one.
func (l *Lease) transact(ctx context.Context, pool *pgxpool.Pool, fn func(pgx.Tx) error) error {
	return transact(ctx, pool, func(tx pgx.Tx) error {
		if l != nil {
			if _, err := tx.Exec(ctx, requireEpoch, l.name, l.Epoch()); err != nil {
				return err
			}
		}
		return fn(tx)
	})
}
