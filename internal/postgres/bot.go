package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/ranking"
)

// ClaimBot makes the database that of the bot with this id if it is no bot's yet, and returns whose it is. Of several bots
// that claim it at once one gets it.
func ClaimBot(ctx context.Context, pool *pgxpool.Pool, bot ranking.UserID) (owner ranking.UserID, err error) {
	const claim = `INSERT INTO bot (telegram_user_id) VALUES ($1) ON CONFLICT (only_one) DO NOTHING`
	// A database that takes no writes for a while is no reason not to start, so only the first start writes.
	for range 2 {
		err = pool.QueryRow(ctx, `SELECT telegram_user_id FROM bot`).Scan(&owner)
		if !errors.Is(err, pgx.ErrNoRows) {
			break
		}
		if _, err := pool.Exec(ctx, claim, bot); err != nil {
			return 0, fmt.Errorf("claim the database: %w", err)
		}
	}
	if err != nil {
		return 0, fmt.Errorf("read whose the database is: %w", err)
	}
	return owner, nil
}

// AdoptBot makes the database that of the bot with this id, and returns whose it was, 0 for nobody's.
func AdoptBot(ctx context.Context, pool *pgxpool.Pool, bot ranking.UserID) (before ranking.UserID, err error) {
	const sql = `
		INSERT INTO bot (telegram_user_id) VALUES ($1)
		ON CONFLICT (only_one) DO UPDATE SET telegram_user_id = excluded.telegram_user_id
		RETURNING coalesce((SELECT telegram_user_id FROM bot), 0)` // which sees what was there before
	if err := pool.QueryRow(ctx, sql, bot).Scan(&before); err != nil {
		return 0, fmt.Errorf("adopt the database: %w", err)
	}
	return before, nil
}
