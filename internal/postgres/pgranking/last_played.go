package pgranking

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// LastPlayed implements ranking.Store.
func (s *Store) LastPlayed(ctx context.Context, chat ranking.ExternalChatID, who ranking.Person) (time.Time, error) {
	const sql = `
		SELECT max(played_at) FROM (
		    SELECT m.played_at FROM match_players mp JOIN matches m ON m.id = mp.match_id
		    WHERE mp.player_id = ` + postgres.ThisPlayer + ` AND m.ladder_id = ` + postgres.ThisLadder + `
		    ORDER BY mp.match_id DESC LIMIT 1) AS last`
	var last time.Time
	if err := s.db.QueryRow(ctx, sql, chat, who.ID).Scan((*zeronull.Timestamptz)(&last)); err != nil {
		return last, fmt.Errorf("read when a player last played: %w", postgres.Translate(err))
	}
	return last, nil
}
