package pgranking

import (
	"context"

	"github.com/jackc/pgx/v5"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// DueTimers implements ranking.Store.
func (s *Store) DueTimers(ctx context.Context, after ranking.Timer, limit int) ([]ranking.Timer, error) {
	const sql = `
		SELECT t.key, c.telegram_chat_id, t.due_at
		FROM (SELECT * FROM timers WHERE due_at <= now() AND (due_at, key) > ($1, $2) ORDER BY due_at, key LIMIT $3) AS t
		CROSS JOIN LATERAL (SELECT * FROM chats WHERE id = t.chat_id LIMIT 1) AS c
		ORDER BY t.due_at, t.key`
	return postgres.Collect(ctx, s.db, "read due timers",
		pgx.RowToStructByPos[ranking.Timer], sql, after.DueAt, after.Key, limit)
}

// queueDue reads whether a timer with this key exists and is due.
func queueDue(batch *pgx.Batch, key string, due *bool) {
	batch.Queue(`SELECT EXISTS (SELECT FROM timers WHERE key = $1 AND due_at <= clock_timestamp())`, key).
		QueryRow(func(row pgx.Row) error { return row.Scan(due) })
}

// queueFires sets a timer that is due at once, unless it is set already.
func queueFires(batch *pgx.Batch, c ranking.Changes) {
	batch.Queue(`
		INSERT INTO timers (key, chat_id, due_at) VALUES ($1, $2, now()) ON CONFLICT ON CONSTRAINT timers_pkey DO NOTHING`,
		c.Fires, c.Chat)
}

// queueFired deletes the timer with this key. The batch fails unless the timer still exists and is
// due.
func queueFired(batch *pgx.Batch, key string) {
	batch.Queue(`
		WITH fired AS (DELETE FROM timers WHERE key = $1 AND due_at <= clock_timestamp() RETURNING 1)
		SELECT EXISTS (SELECT FROM fired)::unchanged`, key)
}
