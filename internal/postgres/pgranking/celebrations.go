package pgranking

import (
	"context"
	"fmt"
	"time"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// leaders is the query for the players at the top of the ranking of the ladder here. $4 says since when they have played, and $5 how many
// there are at most.
const leaders = `
		SELECT id, elo FROM group_players
		WHERE ladder_id = (SELECT ladder_id FROM here) AND played >= 5 AND left_at IS NULL AND last_played_at > $4
		ORDER BY elo DESC, id LIMIT $5`

// LargestUpset implements ranking.Store.
func (s *Store) LargestUpset(ctx context.Context, ladder ranking.LadderID, month time.Time) (upset int, err error) {
	const sql = `
		SELECT coalesce(max(upset), 0) FROM (
		    SELECT upset FROM matches
		    WHERE group_id = (SELECT group_id FROM ladders WHERE id = $1) AND ladder_id = $1 AND played_at >= $2 AND played_at < $3
		      AND undone_at IS NULL
		    OFFSET 0) AS of_month`
	if err := s.db.QueryRow(ctx, sql, ladder, month, month.AddDate(0, 1, 0)).Scan(&upset); err != nil {
		return 0, fmt.Errorf("read the largest upset: %w", postgres.Translate(err))
	}
	return upset, nil
}
