package pgranking

import (
	"context"
	"fmt"

	"elobot/internal/postgres"
)

// EnsureDurable implements ranking.Store. With synchronous replication, a commit whose wait for the standby is canceled becomes visible
// although the standby may not have it. A later commit waits for the standby too, and the standby gets all commits in order. Only a
// transaction that writes waits, and this one writes nothing but a message into the log. On a standby, its first function fails as
// a write does.
func (s *Store) EnsureDurable(ctx context.Context) error {
	const sql = `SELECT pg_current_xact_id(), pg_logical_emit_message(true, 'elobot', '')`
	if _, err := s.db.Exec(ctx, sql); err != nil {
		return fmt.Errorf("ensure that commits are durable: %w", postgres.Translate(err))
	}
	return nil
}
