package pgranking

import (
	"context"
	"fmt"
	"time"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// leaders is the query for the players at the top of the ranking of the ladder here. $4 says since when they have played, and $5 how many
// there are at most. Of the first 200 ratings, those of players who have not played lately are passed over; a last row without a standing
// says that there may be more. The planner uses the order of group_players_ranking_idx only with IS FALSE.
const leaders = `
		WITH top AS MATERIALIZED (
		    SELECT id, elo, last_played_at FROM group_players
		    WHERE ladder_id = (SELECT ladder_id FROM here) AND (played < 5) IS FALSE AND played > 0 AND left_at IS NULL
		    ORDER BY elo DESC, id LIMIT 200
		), active AS MATERIALIZED (SELECT id, elo FROM top WHERE last_played_at > $4 LIMIT $5)
		SELECT id, elo FROM active
		UNION ALL SELECT 0, 0 WHERE (SELECT count(*) FROM active) < $5 AND (SELECT count(*) FROM top) = 200`

// LargestUpset implements ranking.Store. The tallies lack some of the month's upsets while they have marks or are counted again.
func (s *Store) LargestUpset(ctx context.Context, ladder ranking.LadderID, month time.Time) (upset ranking.MonthUpset, err error) {
	const sql = `
		SELECT NOT EXISTS (SELECT FROM tally_marks WHERE ladder_id = $1)
		       AND NOT EXISTS (SELECT FROM ladder_tallies WHERE ladder_id = $1 AND recounting),
		       coalesce((SELECT upset FROM player_months WHERE ladder_id = $1 AND month = $2 AND upset IS NOT NULL
		                 ORDER BY upset DESC LIMIT 1), 0)`
	if err := s.db.QueryRow(ctx, sql, ladder, month).Scan(&upset.Known, &upset.Largest); err != nil {
		return upset, fmt.Errorf("read the largest upset: %w", postgres.Translate(err))
	}
	return upset, nil
}
