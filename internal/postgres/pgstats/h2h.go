package pgstats

import (
	"context"

	"github.com/jackc/pgx/v5"

	"elobot/internal/ladder"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// otherOne is the id of the player $3, or of the player into whom $3 was merged.
const otherOne = `coalesce((SELECT merged_into FROM players WHERE id = $3), $3::bigint)`

// HeadToHead implements stats.Store.
func (s *Store) HeadToHead(
	ctx context.Context, in ladder.ID, a, b ladder.PlayerID,
) (n stats.HeadToHead, meetings []ladder.Match, err error) {
	const sql = `
		SELECT ids.a, ids.b, NOT l.draws_allowed, coalesce(a.elo, 0), coalesce(b.elo, 0), a.id IS NOT NULL, b.id IS NOT NULL
		FROM (SELECT ` + thisOne + ` AS a, ` + otherOne + ` AS b) AS ids
		CROSS JOIN ladders l
		LEFT JOIN LATERAL (
		    SELECT * FROM group_players WHERE season_id = l.season_id AND player_id = ids.a LIMIT 1) AS a ON true
		LEFT JOIN LATERAL (
		    SELECT * FROM group_players WHERE season_id = l.season_id AND player_id = ids.b LIMIT 1) AS b ON true
		WHERE l.id = ` + thisLadder
	var joined [2]bool
	var batch pgx.Batch
	n = stats.HeadToHead{A: ranking.Name{Player: a}, B: ranking.Name{Player: b}}
	batch.Queue(sql, in, a, b).Query(func(rows pgx.Rows) error { // no rows if the ladder is unknown
		to := []any{&n.A.Player, &n.B.Player, &n.NoDraws, &n.Ratings[0], &n.Ratings[1], &joined[0], &joined[1]}
		_, err := pgx.ForEachRow(rows, to, func() error { return nil })
		return err
	})
	queueCounted(&batch, &meetings, ofPair, ofAnySeason, in, a, b)
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
