package pgintake

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/intake"
	"elobot/internal/postgres"
)

// UpdateAttempts stores which attempts at updates have begun and not returned. It implements
// intake.Attempts.
type UpdateAttempts struct {
	pool  *pgxpool.Pool
	lease *postgres.Lease // needed for Begin; nil: no lease is needed
}

var _ intake.Attempts = (*UpdateAttempts)(nil)

// NewUpdateAttempts returns the attempts in the pool's database. Begin fails with
// outbox.ErrLeaseLost if the lease is lost. If lease is nil, no lease is needed.
func NewUpdateAttempts(pool *pgxpool.Pool, lease *postgres.Lease) *UpdateAttempts {
	return &UpdateAttempts{pool: pool, lease: lease}
}

// Lost implements intake.Attempts.
func (a *UpdateAttempts) Lost(ctx context.Context, update int64) (n int, first time.Time, err error) {
	const sql = `SELECT attempts, first_seen_at FROM update_attempts WHERE update_id = $1`
	err = a.pool.QueryRow(ctx, sql, update).Scan(&n, &first)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return 0, first, fmt.Errorf("read the attempts at update %d: %w", update, postgres.Translate(err))
	}
	return n, first, nil
}

// Begin implements intake.Attempts.
func (a *UpdateAttempts) Begin(ctx context.Context, update int64) error {
	const sql = `
		INSERT INTO update_attempts AS u (update_id, attempts) VALUES ($1, 1)
		ON CONFLICT ON CONSTRAINT update_attempts_pkey DO UPDATE SET attempts = u.attempts + 1, last_begun_at = now()`
	var batch pgx.Batch
	a.lease.Require(&batch)
	batch.Queue(sql, update)
	if err := a.pool.SendBatch(ctx, &batch).Close(); err != nil {
		return fmt.Errorf("record an attempt at update %d: %w", update, postgres.Translate(err))
	}
	return nil
}

// End implements intake.Attempts. It does not need the lease: the attempt has returned, no matter
// which instance is the leader now.
func (a *UpdateAttempts) End(ctx context.Context, update int64) error {
	if _, err := a.pool.Exec(ctx, `DELETE FROM update_attempts WHERE update_id = $1`, update); err != nil {
		return fmt.Errorf("record the end of an attempt at update %d: %w", update, postgres.Translate(err))
	}
	return nil
}

// Open implements intake.Attempts. It ignores attempts that began more than ten minutes ago: the
// messenger delivers an update again within a minute, so another instance has probably handled such
// an update by now. It also ignores updates that have become dead letters.
func (a *UpdateAttempts) Open(ctx context.Context) (open bool, err error) {
	const sql = `
		SELECT EXISTS (
		    SELECT FROM update_attempts a
		    WHERE a.last_begun_at > now() - interval '10 minutes'
		      AND NOT EXISTS (SELECT FROM dead_letters d WHERE d.update_id = a.update_id))`
	if err := a.pool.QueryRow(ctx, sql).Scan(&open); err != nil {
		return false, fmt.Errorf("look for open attempts: %w", postgres.Translate(err))
	}
	return open, nil
}
