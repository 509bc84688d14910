package pgranking

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"elobot/internal/outbox"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// WithGroupLock implements ranking.Store.
func (s *Store) WithGroupLock(ctx context.Context, chat ranking.ExternalChatID,
	fn func(context.Context, ranking.Store) error,
) error {
	var changed []outbox.Lane
	err := s.lease.Transact(ctx, s.pool, func(tx pgx.Tx) error {
		// The group may be deleted while we wait for it, because its chat was joined with another one. The second try
		// finds the group that the chat has then.
		for range 2 {
			held, err := tx.Exec(ctx, `SELECT FROM groups WHERE chat_id = `+postgres.ThisChat+` FOR NO KEY UPDATE`, chat)
			if err != nil {
				return fmt.Errorf("lock the group: %w", err)
			}
			if held.RowsAffected() > 0 {
				break
			}
		}
		inside := &Store{Now: s.Now, pool: s.pool, db: tx, committed: func(l outbox.Lane) { changed = append(changed, l) }}
		return fn(ctx, inside)
	})
	if err != nil {
		return postgres.Translate(err)
	}
	for _, l := range changed {
		s.committed(l)
	}
	return nil
}
