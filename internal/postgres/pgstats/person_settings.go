package pgstats

import (
	"context"

	"github.com/jackc/pgx/v5"

	"elobot/internal/ladder"
)

// IsOffWeb implements stats.Store.
func (s *Store) IsOffWeb(ctx context.Context, user ladder.UserID) (off bool, err error) {
	var batch pgx.Batch
	batch.Queue(`SELECT EXISTS (SELECT FROM players WHERE telegram_user_id = $1 AND off_web_at IS NOT NULL)`, user).
		QueryRow(func(row pgx.Row) error { return row.Scan(&off) })
	return off, s.send(ctx, &batch)
}
