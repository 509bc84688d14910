package pgstats

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// otherOne is the player with the id $3, or whom that one turned out to be.
const otherOne = `coalesce((SELECT merged_into FROM players WHERE id = $3), $3::bigint)`

// HeadToHead implements stats.Store.
func (s *Store) HeadToHead(ctx context.Context, chat ranking.ExternalChatID, a, b ranking.PlayerID) (stats.HeadToHead, error) {
	n := stats.HeadToHead{A: ranking.Name{Player: a}, B: ranking.Name{Player: b}}
	var joined [2]bool
	var batch pgx.Batch
	queueFreshness(&batch, chat, &n.Freshness)
	queueRivals(&batch, chat, &n, &joined)
	queueMeetings(&batch, chat, &n)
	queueLastMeetings(&batch, chat, &n)
	if err := s.send(ctx, &batch); err != nil {
		return stats.HeadToHead{}, err
	}
	for i, name := range []ranking.Name{n.A, n.B} {
		if !joined[i] {
			n.Stranger = name
		}
	}
	return n, nil
}

// queueRivals reads the ratings of both players, and whether they are in the ladder.
func queueRivals(batch *pgx.Batch, chat ranking.ExternalChatID, n *stats.HeadToHead, joined *[2]bool) {
	const sql = `
		SELECT ids.a, ids.b, NOT l.draws_allowed, coalesce(a.elo, 0), coalesce(b.elo, 0), a.id IS NOT NULL, b.id IS NOT NULL
		FROM (SELECT ` + thisOne + ` AS a, ` + otherOne + ` AS b) AS ids
		CROSS JOIN ladders l
		LEFT JOIN LATERAL (SELECT * FROM group_players WHERE ladder_id = l.id AND player_id = ids.a LIMIT 1) AS a ON true
		LEFT JOIN LATERAL (SELECT * FROM group_players WHERE ladder_id = l.id AND player_id = ids.b LIMIT 1) AS b ON true
		WHERE l.id = ` + postgres.ThisLadder
	batch.Queue(sql, chat, n.A.Player, n.B.Player).Query(func(rows pgx.Rows) error {
		for rows.Next() { // at most once
			err := rows.Scan(&n.A.Player, &n.B.Player, &n.NoDraws, &n.Ratings[0], &n.Ratings[1], &joined[0], &joined[1])
			if err != nil {
				return fmt.Errorf("scan two players: %w", err)
			}
		}
		return rows.Err()
	})
}

// queueMeetings reads the totals of two players.
func queueMeetings(batch *pgx.Batch, chat ranking.ExternalChatID, n *stats.HeadToHead) {
	const sql = `
		SELECT won, drawn, lost, points_for, points_against, gained FROM pair_totals
		WHERE ladder_id = ` + postgres.ThisLadder + ` AND player_id = ` + thisOne + ` AND other_id = ` + otherOne + ` AND NOT together`
	batch.Queue(sql, chat, n.A.Player, n.B.Player).Query(func(rows pgx.Rows) error {
		for rows.Next() { // at most once
			if err := rows.Scan(&n.Won, &n.Drawn, &n.Lost, &n.For, &n.Against, &n.Gained); err != nil {
				return fmt.Errorf("scan the meetings of two players: %w", err)
			}
		}
		return rows.Err()
	})
}

// queueLastMeetings reads the last meetings of two players: in each of the last months in which they met, those of the matches of the
// one with fewer of them in which the other one played on the other side. So two who play daily and met twice are found quickly. The
// subqueries in conditions are not joins, so that they are evaluated per match.
func queueLastMeetings(batch *pgx.Batch, chat ranking.ExternalChatID, n *stats.HeadToHead) {
	const sql = `
		WITH us AS MATERIALIZED (SELECT ` + postgres.ThisLadder + ` AS ladder, ` + thisOne + ` AS a, ` + otherOne + ` AS b)
		SELECT m.number, m.played_at, CASE own.side WHEN 1 THEN m.score_a ELSE m.score_b END,
		       CASE own.side WHEN 1 THEN m.score_b ELSE m.score_a END, h.elo_after - h.elo_before, ARRAY[]::bigint[]
		FROM us
		CROSS JOIN LATERAL (
		    SELECT month FROM pair_months WHERE ladder_id = us.ladder AND player_id = us.a AND other_id = us.b AND together = false
		    ORDER BY month DESC LIMIT $4
		) AS met
		CROSS JOIN LATERAL (
		    SELECT player_id AS player, us.a + us.b - player_id AS other FROM player_months
		    WHERE ladder_id = us.ladder AND player_id IN (us.a, us.b) AND month = met.month
		    ORDER BY played LIMIT 1
		) AS fewer
		CROSS JOIN LATERAL (
		    SELECT meeting.match_id
		    FROM (
		        SELECT mp.played_at, mp.match_id FROM match_players mp
		        WHERE mp.player_id = fewer.player AND mp.ladder_id = us.ladder AND mp.played_at >= met.month::timestamp AT TIME ZONE 'UTC'
		          AND mp.played_at < (met.month + interval '1 month') AT TIME ZONE 'UTC'
		          AND (SELECT true FROM match_players o WHERE o.player_id = fewer.other AND o.ladder_id = us.ladder
		               AND o.played_at = mp.played_at AND o.match_id = mp.match_id)
		        ORDER BY mp.played_at DESC, mp.match_id DESC OFFSET 0
		    ) AS meeting
		    WHERE (SELECT undone_at FROM matches WHERE id = meeting.match_id) IS NULL
		      AND (SELECT count(DISTINCT side) FROM match_players
		           WHERE match_id = meeting.match_id AND player_id IN (us.a, us.b)) = 2
		    ORDER BY meeting.played_at DESC, meeting.match_id DESC LIMIT $4
		) AS last
		CROSS JOIN LATERAL (SELECT * FROM matches WHERE id = last.match_id LIMIT 1) AS m
		CROSS JOIN LATERAL (SELECT * FROM match_players WHERE match_id = last.match_id AND player_id = us.a LIMIT 1) AS own
		CROSS JOIN LATERAL (
		    SELECT * FROM elo_history WHERE match_id = last.match_id AND player_id = us.a AND superseded_at IS NULL LIMIT 1
		) AS h
		ORDER BY met.month DESC, m.played_at DESC, m.id DESC LIMIT $4`
	batch.Queue(sql, chat, n.A.Player, n.B.Player, stats.LastMatches).Query(func(rows pgx.Rows) (err error) {
		n.Last, err = pgx.CollectRows(rows, scanPlayedMatch)
		return err
	})
}
