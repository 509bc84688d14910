package pgranking

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// LastPlayed implements ranking.Store.
func (s *Store) LastPlayed(ctx context.Context, chat ranking.ExternalChatID, who ranking.Person) (time.Time, error) {
	const sql = `
		SELECT max(mp.played_at) FROM match_players mp
		WHERE mp.player_id = ` + postgres.ThisPlayer + ` AND mp.ladder_id = ` + postgres.ThisLadder
	var last time.Time
	if err := s.db.QueryRow(ctx, sql, chat, who.ID).Scan((*zeronull.Timestamptz)(&last)); err != nil {
		return last, fmt.Errorf("read when a player last played: %w", postgres.Translate(err))
	}
	return last, nil
}

// queueLastPlayed corrects when the players of matches that no longer count last played. A replay cannot: it does not go back
// to their matches before.
func queueLastPlayed(batch *pgx.Batch, undone ...ranking.MatchID) {
	if len(undone) == 0 {
		return
	}
	batch.Queue(`
		UPDATE group_players s SET last_played_at = (
		    SELECT mp.played_at FROM match_players mp JOIN matches m ON m.id = mp.match_id
		    WHERE mp.player_id = s.player_id AND mp.ladder_id = s.ladder_id AND m.undone_at IS NULL
		    ORDER BY mp.played_at DESC, mp.match_id DESC LIMIT 1)
		FROM match_players undone
		WHERE undone.match_id = ANY ($1) AND s.ladder_id = undone.ladder_id AND s.player_id = undone.player_id`, undone)
}
