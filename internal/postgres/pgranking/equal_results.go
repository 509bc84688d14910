package pgranking

import (
	"github.com/jackc/pgx/v5"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// maxRecent is how many recent matches are read at most.
const maxRecent = 200

// queueEqualResults reads the recent matches of a group that may be the same as reported ones.
func queueEqualResults(batch *pgx.Batch, q ranking.Query, recent *[]ranking.RecentMatch) {
	const sql = `
		SELECT m.number, m.score_a, m.score_b, m.sets, m.played_at, coalesce(m.reported_by, 0),
		       ARRAY(SELECT mp.player_id FROM match_players mp WHERE mp.match_id = m.id AND mp.side = 1),
		       ARRAY(SELECT mp.player_id FROM match_players mp WHERE mp.match_id = m.id AND mp.side = 2)
		FROM matches m
		WHERE m.group_id = ` + postgres.ThisGroup + `
		  AND m.played_at BETWEEN $2::timestamptz - $3::interval AND $2::timestamptz + $3::interval AND m.undone_at IS NULL
		  AND ($4::integer[] IS NULL OR (least(m.score_a, m.score_b), greatest(m.score_a, m.score_b)) IN (
		      SELECT least(a, b), greatest(a, b) FROM unnest($4::integer[], $5::integer[]) AS score (a, b)))
		ORDER BY m.played_at DESC LIMIT $6`
	var a, b []int // nil for any score
	for _, s := range q.EqualScores {
		a, b = append(a, s.A), append(b, s.B)
	}
	batch.Queue(sql, q.Chat.ID, q.Equal, ranking.SameGameWindow, a, b, maxRecent).Query(func(rows pgx.Rows) (err error) {
		*recent, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (m ranking.RecentMatch, err error) {
			var points [][]int16
			err = row.Scan(&m.Number, &m.Result.A, &m.Result.B, &points, &m.PlayedAt, &m.ReportedBy, &m.Players[0], &m.Players[1])
			m.Result.Sets = setScores(points)
			return m, err
		})
		return err
	})
}
