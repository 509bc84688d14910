package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/intake"
)

// DeadLetters keeps the updates that could not be handled. It implements intake.DeadLetters.
type DeadLetters struct {
	pool *pgxpool.Pool
}

var _ intake.DeadLetters = (*DeadLetters)(nil)

// NewDeadLetters returns the dead letters in the database of the pool.
func NewDeadLetters(pool *pgxpool.Pool) *DeadLetters { return &DeadLetters{pool: pool} }

// Keep implements intake.DeadLetters. Of an update that dies again, one row is kept, with the newest reason.
func (d *DeadLetters) Keep(ctx context.Context, letter intake.DeadLetter) error {
	const sql = `
		INSERT INTO dead_letters AS kept (kind, update_id, payload, last_error, attempts, first_seen_at)
		VALUES ('update', $1, $2, $3, $4, $5)
		ON CONFLICT ON CONSTRAINT dead_letters_update_id_key DO UPDATE
		SET payload = excluded.payload, last_error = excluded.last_error, attempts = kept.attempts + excluded.attempts, last_seen_at = now()`
	u := letter.Update
	_, err := d.pool.Exec(ctx, sql, u.ID, []byte(u.Raw), storable(letter.LastError), letter.Attempts, letter.FirstSeen)
	if err != nil {
		return fmt.Errorf("keep dead letter: %w", err)
	}
	return nil
}
