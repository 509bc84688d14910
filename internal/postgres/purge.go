package postgres

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// keyAge is how long the keys of handled commands are kept: longer than the day for which Telegram delivers an update
	// again. A match keeps its own key for ever.
	keyAge = 72 * time.Hour
	// purgeEvery is how often old keys are removed.
	purgeEvery = time.Hour
	// purgeBatch is how many rows go in one transaction.
	purgeBatch = 10_000
	// purgeLock is the advisory lock of whoever purges.
	purgeLock = 0x656c6f70
)

// Purger removes what is kept for a time only. Several instances may run one: only one of them works at a time.
type Purger struct {
	pool *pgxpool.Pool
	log  *slog.Logger
}

// NewPurger returns a purger of the database of the pool.
func NewPurger(pool *pgxpool.Pool, log *slog.Logger) *Purger { return &Purger{pool, log} }

// Run purges at once and then every hour until the context ends. It returns nil.
func (p *Purger) Run(ctx context.Context) error {
	tick := time.NewTicker(purgeEvery)
	defer tick.Stop()
	for {
		switch n, err := p.Purge(ctx); {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			p.log.WarnContext(ctx, "cannot remove old keys, trying again later", "error", err)
		case n > 0:
			p.log.InfoContext(ctx, "old keys removed", "keys", n)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// Purge removes the keys that are old enough, and returns how many there were. When another instance is at it, there is
// nothing to do.
func (p *Purger) Purge(ctx context.Context) (removed int64, err error) {
	for {
		n, err := p.purgeSome(ctx)
		removed += n
		if err != nil {
			return removed, fmt.Errorf("purge: %w", err)
		}
		if n < purgeBatch {
			return removed, nil
		}
	}
}

func (p *Purger) purgeSome(ctx context.Context) (n int64, err error) {
	err = transact(ctx, p.pool, func(tx pgx.Tx) error {
		var mine bool
		if err := tx.QueryRow(ctx, `SELECT pg_try_advisory_xact_lock($1)`, purgeLock).Scan(&mine); err != nil || !mine {
			return err
		}
		tag, err := tx.Exec(ctx, `
			DELETE FROM handled_commands WHERE key IN (
			    SELECT key FROM handled_commands WHERE handled_at < now() - make_interval(secs => $1) LIMIT $2)`,
			keyAge.Seconds(), purgeBatch)
		n = tag.RowsAffected()
		return err
	})
	return n, err
}
