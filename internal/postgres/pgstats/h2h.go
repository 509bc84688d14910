package pgstats

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// otherOne is the player with the id $3, or the one that this player was merged into.
const otherOne = `coalesce((SELECT merged_into FROM players WHERE id = $3), $3::bigint)`

// HeadToHead implements stats.Store.
func (s *Store) HeadToHead(
	ctx context.Context, ladder ranking.LadderID, a, b ranking.PlayerID,
) (n stats.HeadToHead, meetings []stats.Match, err error) {
	n = stats.HeadToHead{A: ranking.Name{Player: a}, B: ranking.Name{Player: b}}
	var joined [2]bool
	var batch pgx.Batch
	queueRivals(&batch, ladder, &n, &joined)
	queueCounted(&batch, &meetings, ofPair, ofAnySeason, ladder, a, b)
	if err := s.send(ctx, &batch); err != nil {
		return stats.HeadToHead{}, nil, err
	}
	for i, name := range []ranking.Name{n.A, n.B} {
		if !joined[i] {
			n.Stranger = name
		}
	}
	return n, meetings, nil
}

// queueRivals reads the ratings of both players, and whether they are in the ladder.
func queueRivals(batch *pgx.Batch, ladder ranking.LadderID, n *stats.HeadToHead, joined *[2]bool) {
	const sql = `
		SELECT ids.a, ids.b, NOT l.draws_allowed, coalesce(a.elo, 0), coalesce(b.elo, 0), a.id IS NOT NULL, b.id IS NOT NULL
		FROM (SELECT ` + thisOne + ` AS a, ` + otherOne + ` AS b) AS ids
		CROSS JOIN ladders l
		LEFT JOIN LATERAL (SELECT * FROM group_players WHERE season_id = l.season_id AND player_id = ids.a LIMIT 1) AS a ON true
		LEFT JOIN LATERAL (SELECT * FROM group_players WHERE season_id = l.season_id AND player_id = ids.b LIMIT 1) AS b ON true
		WHERE l.id = ` + thisLadder
	batch.Queue(sql, ladder, n.A.Player, n.B.Player).Query(func(rows pgx.Rows) error {
		for rows.Next() { // at most once
			err := rows.Scan(&n.A.Player, &n.B.Player, &n.NoDraws, &n.Ratings[0], &n.Ratings[1], &joined[0], &joined[1])
			if err != nil {
				return fmt.Errorf("scan two players: %w", err)
			}
		}
		return rows.Err()
	})
}
