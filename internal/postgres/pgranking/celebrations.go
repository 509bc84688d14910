package pgranking

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// maxExamined is how many ratings are read to find the players at the top who have played lately.
const maxExamined = 200

// leadersOf returns the query for the players at the top of the ranking of a ladder, which is an expression. Two parameters, of which the
// first has this number, say since when they have played, and how many there are at most. A last row without a standing says that there
// may be more. The planner uses the order of group_players_ranking_idx only with IS FALSE.
func leadersOf(ladder string, parameter int) string {
	return fmt.Sprintf(`
		WITH top AS MATERIALIZED (
		    SELECT id, elo, last_played_at FROM group_players
		    WHERE ladder_id = %s AND (played < 5) IS FALSE AND played > 0 AND left_at IS NULL
		    ORDER BY elo DESC, id LIMIT %d
		), leaders AS MATERIALIZED (SELECT id, elo FROM top WHERE last_played_at > $%[3]d LIMIT $%[4]d)
		SELECT id, elo FROM leaders
		UNION ALL SELECT 0, 0 WHERE (SELECT count(*) FROM leaders) < $%[4]d AND (SELECT count(*) FROM top) = %[2]d`,
		ladder, maxExamined, parameter, parameter+1)
}

// The largest upset of the ladder $1 in the month $2, and whether the tallies have all of it.
const (
	largestUpset = `coalesce((
		    SELECT upset FROM player_months WHERE ladder_id = $1 AND month = $2 AND upset IS NOT NULL ORDER BY upset DESC LIMIT 1), 0)`
	upsetsKnown = `NOT EXISTS (SELECT FROM tally_marks WHERE ladder_id = $1)
		       AND NOT EXISTS (SELECT FROM ladder_tallies WHERE ladder_id = $1 AND recounting)`
)

// LargestUpset implements ranking.Store.
func (s *Store) LargestUpset(ctx context.Context, ladder ranking.LadderID, month time.Time) (ranking.MonthUpset, error) {
	upset := ranking.MonthUpset{Month: month}
	const sql = `SELECT ` + upsetsKnown + `, ` + largestUpset
	if err := s.db.QueryRow(ctx, sql, ladder, month).Scan(&upset.Known, &upset.Largest); err != nil {
		return upset, fmt.Errorf("read the largest upset: %w", postgres.Translate(err))
	}
	return upset, nil
}

// queuePremises raises an error if what celebrations follow from is no longer as it was read. It comes after the groups are locked,
// and before the standings are written.
func queuePremises(batch *pgx.Batch, all []ranking.Changes) {
	for _, c := range all {
		matches, ok := c.Effect.(ranking.NewMatches)
		if !ok {
			continue
		}
		ladder := matches[0].Ladder
		if l := c.Premises.Leaders; l != nil {
			batch.Queue(`
				WITH leaders AS (`+leadersOf("$1", 2)+`)
				SELECT (coalesce(array_agg(id ORDER BY elo DESC, id), '{}') = $4
				        AND coalesce(array_agg(elo ORDER BY elo DESC, id), '{}') = $5)::unchanged FROM leaders`,
				ladder, l.ActiveSince, l.Limit,
				postgres.Column(l.Found, func(l ranking.Leader) ranking.StandingID { return l.Standing }),
				postgres.Column(l.Found, func(l ranking.Leader) int { return l.Elo }))
		}
		if u := c.Premises.Upset; u != nil {
			batch.Queue(`SELECT ((`+upsetsKnown+`) = $3 AND `+largestUpset+` = $4)::unchanged`, ladder, u.Month, u.Known, u.Largest)
		}
	}
}
