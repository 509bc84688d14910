package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"elobot/internal/ranking"
)

// Exclusively implements ranking.Store.
func (s *Store) Exclusively(ctx context.Context, chat ranking.ExternalChatID,
	fn func(context.Context, ranking.Store) error,
) error {
	var changed []ranking.ChatID
	err := transact(ctx, s.pool, func(tx pgx.Tx) error {
		const lock = `
			SELECT g.id FROM groups g JOIN chats c ON c.id = g.chat_id
			WHERE c.telegram_chat_id = $1 FOR NO KEY UPDATE OF g`
		if _, err := tx.Exec(ctx, lock, chat); err != nil {
			return fmt.Errorf("take the group: %w", err)
		}
		inside := &Store{pool: s.pool, db: tx, committed: func(c ranking.ChatID) { changed = append(changed, c) }}
		return fn(ctx, inside)
	})
	if err != nil {
		return translate(err)
	}
	for _, c := range changed {
		s.committed(c)
	}
	return nil
}
