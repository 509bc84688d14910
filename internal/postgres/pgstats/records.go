package pgstats

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// Records implements stats.Store.
func (s *Store) Records(ctx context.Context, chat ranking.ExternalChatID, month time.Time) (stats.Records, error) {
	n := stats.Records{Month: month}
	var upset *stats.Record
	var beaten []ranking.PlayerID
	var batch pgx.Batch
	queueFreshness(&batch, chat, &n.Freshness)
	batch.Queue(titleOf, chat).QueryRow(func(row pgx.Row) error { return row.Scan(&n.Title) })
	queueRecord(&batch, chat, month, "streak", "streak_match", &n.Streak, nil)
	queueRecord(&batch, chat, month, "best_elo", "best_match", &n.Rating, nil)
	queueRecord(&batch, chat, month, "upset", "upset_match", &upset, &beaten)
	queueMostMatches(&batch, chat, month, &n.Played)
	queueRivalry(&batch, chat, month, &n.Rivalry)
	if err := s.send(ctx, &batch); err != nil {
		return stats.Records{}, err
	}
	if upset != nil {
		n.Upset = &stats.UpsetBy{Name: upset.Name, Upset: stats.Upset{MatchRef: *upset.In, By: upset.Value, Beaten: names(beaten)}}
	}
	return n, nil
}

// queueRecord reads the highest value of a column of player_months, and the match that is in another column. Of equal ones it is the
// first. It looks at one row of each month, by an index of the column; month is zero for all months.
func queueRecord(
	batch *pgx.Batch, chat ranking.ExternalChatID, month time.Time, value, match string, to **stats.Record, beaten *[]ranking.PlayerID,
) {
	others := `ARRAY[]::bigint[]`
	if beaten != nil {
		others = beatenBy
	} else {
		beaten = new([]ranking.PlayerID)
	}
	sql := `
		SELECT best.player_id, best.value, m.number, m.played_at, ` + others + `
		FROM (
		    SELECT top.* FROM (
		        SELECT generate_series(
		            coalesce($2::date, (SELECT min(month) FROM player_months WHERE ladder_id = ` + postgres.ThisLadder + `))::timestamp,
		            coalesce($2::date, (SELECT max(month) FROM player_months WHERE ladder_id = ` + postgres.ThisLadder + `))::timestamp,
		            interval '1 month')::date AS month
		    ) AS months
		    CROSS JOIN LATERAL (
		        SELECT player_id, ` + value + ` AS value, ` + match + ` AS match_id FROM player_months
		        WHERE ladder_id = ` + postgres.ThisLadder + ` AND month = months.month AND ` + value + ` IS NOT NULL
		        ORDER BY ` + value + ` DESC, ` + match + `, player_id LIMIT 1
		    ) AS top
		    ORDER BY top.value DESC, months.month LIMIT 1
		) AS best
		CROSS JOIN LATERAL (SELECT * FROM matches WHERE id = best.match_id LIMIT 1) AS m`
	only := &month
	if month.IsZero() {
		only = nil
	}
	batch.Queue(sql, chat, only).Query(func(rows pgx.Rows) error {
		for rows.Next() { // at most once
			r := stats.Record{In: new(stats.MatchRef)}
			if err := rows.Scan(&r.Name.Player, &r.Value, &r.In.Number, &r.In.At, beaten); err != nil {
				return fmt.Errorf("scan a record: %w", err)
			}
			r.In.At, *to = r.In.At.UTC(), &r
		}
		return rows.Err()
	})
}

// queueMostMatches reads who has played most, in a month or ever.
func queueMostMatches(batch *pgx.Batch, chat ranking.ExternalChatID, month time.Time, to **stats.Record) {
	const ofAllTime = `
		SELECT player_id, played FROM group_players WHERE ladder_id = ` + postgres.ThisLadder + ` AND played > 0
		ORDER BY played DESC, player_id LIMIT 1`
	const ofMonth = `
		SELECT player_id, played FROM player_months WHERE ladder_id = ` + postgres.ThisLadder + ` AND month = $2
		ORDER BY played DESC, player_id LIMIT 1`
	sql, arguments := ofAllTime, []any{chat}
	if !month.IsZero() {
		sql, arguments = ofMonth, append(arguments, month)
	}
	batch.Queue(sql, arguments...).Query(func(rows pgx.Rows) error {
		for rows.Next() { // at most once
			var r stats.Record
			if err := rows.Scan(&r.Name.Player, &r.Value); err != nil {
				return fmt.Errorf("scan who played most: %w", err)
			}
			*to = &r
		}
		return rows.Err()
	})
}

// queueRivalry reads which two players of whom the weaker one won 40 % of the matches or more have played most, in a month or ever.
// The conditions are those of the indexes.
func queueRivalry(batch *pgx.Batch, chat ranking.ExternalChatID, month time.Time, to **stats.RivalryOf) {
	const isClose = `NOT together AND player_id < other_id AND 5 * least(won, lost) >= 2 * played AND played >= $2`
	const ofAllTime = `
		SELECT player_id, other_id, played, won, drawn, lost FROM pair_totals
		WHERE ladder_id = ` + postgres.ThisLadder + ` AND ` + isClose + `
		ORDER BY played DESC, player_id, other_id LIMIT 1`
	const ofMonth = `
		SELECT player_id, other_id, played, won, drawn, lost FROM pair_months
		WHERE ladder_id = ` + postgres.ThisLadder + ` AND month = $3 AND ` + isClose + `
		ORDER BY played DESC, player_id, other_id LIMIT 1`
	sql, arguments := ofAllTime, []any{chat, stats.MinMatches}
	if !month.IsZero() {
		sql, arguments = ofMonth, append(arguments, month)
	}
	batch.Queue(sql, arguments...).Query(func(rows pgx.Rows) error {
		for rows.Next() { // at most once
			var r stats.RivalryOf
			if err := rows.Scan(&r.Name.Player, &r.With.Player, &r.Played, &r.Won, &r.Drawn, &r.Lost); err != nil {
				return fmt.Errorf("scan a rivalry: %w", err)
			}
			*to = &r
		}
		return rows.Err()
	})
}
