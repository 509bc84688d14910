package pgtally

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// playerMonths are consecutive months of a player in a ladder.
type playerMonths struct {
	ladder      ranking.LadderID
	player      ranking.PlayerID
	from, until time.Time // the first day, and the day after the last one
}

// Bounds of all months.
var (
	noMonth    = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	afterMonth = time.Date(9999, 12, 1, 0, 0, 0, 0, time.UTC)
)

// ladderMatch is a match that counts in a ladder.
type ladderMatch struct {
	ladder ranking.LadderID
	stats.CountedMatch
}

// queueMatches reads matches that count: those with the ids, and those that players played in months. They are in the order of
// their numbers, ladder by ladder.
func queueMatches(batch *pgx.Batch, ids []ranking.MatchID, months []playerMonths, matches *[]ladderMatch) {
	// fenced, so that no plan reads a whole table
	const sql = `
		WITH wanted AS MATERIALIZED (
		    SELECT unnest($1::bigint[]) AS id
		    UNION
		    SELECT mp.match_id
		    FROM unnest($2::bigint[], $3::bigint[], $4::timestamptz[], $5::timestamptz[]) AS k (ladder_id, player_id, since, until)
		    CROSS JOIN LATERAL (
		        SELECT match_id FROM match_players
		        WHERE player_id = k.player_id AND ladder_id = k.ladder_id AND played_at >= k.since AND played_at < k.until
		        OFFSET 0) AS mp
		)
		SELECT m.ladder_id, m.id, m.number, m.played_at, m.score_a, m.score_b, p.player_id, p.side,
		       h.elo_before, h.elo_after, h.streak_before
		FROM wanted
		CROSS JOIN LATERAL (SELECT * FROM matches WHERE id = wanted.id AND undone_at IS NULL LIMIT 1) AS m
		CROSS JOIN LATERAL (SELECT * FROM match_players WHERE match_id = wanted.id OFFSET 0) AS p
		LEFT JOIN LATERAL (
		    SELECT * FROM elo_history WHERE match_id = wanted.id AND player_id = p.player_id AND superseded_at IS NULL LIMIT 1) AS h ON true`
	batch.Queue(sql, ids,
		postgres.Column(months, func(m playerMonths) ranking.LadderID { return m.ladder }),
		postgres.Column(months, func(m playerMonths) ranking.PlayerID { return m.player }),
		postgres.Column(months, func(m playerMonths) time.Time { return m.from }),
		postgres.Column(months, func(m playerMonths) time.Time { return m.until })).
		Query(func(rows pgx.Rows) (err error) {
			*matches, err = collectMatches(rows)
			return err
		})
}

// readMatches is queueMatches at once.
func readMatches(ctx context.Context, tx pgx.Tx, months []playerMonths) (matches []ladderMatch, err error) {
	var batch pgx.Batch
	queueMatches(&batch, nil, months, &matches)
	if err := tx.SendBatch(ctx, &batch).Close(); err != nil {
		return nil, fmt.Errorf("read matches: %w", err)
	}
	return matches, nil
}

// collectMatches assembles matches, of which there is a row for each player. It leaves out a match that lacks a side or an entry
// in the history: it cannot be counted, and elobot verify reports it.
func collectMatches(rows pgx.Rows) ([]ladderMatch, error) {
	defer rows.Close()
	matches, at, broken := []ladderMatch(nil), make(map[ranking.MatchID]int), make(map[ranking.MatchID]bool)
	for rows.Next() {
		var m ladderMatch
		var p stats.CountedPart
		var before, after, streak *int
		err := rows.Scan(&m.ladder, &m.ID, &m.Number, &m.PlayedAt, &m.Score.A, &m.Score.B, &p.Player, &p.Side, &before, &after, &streak)
		if err != nil {
			return nil, fmt.Errorf("read matches: %w", err)
		}
		i, there := at[m.ID]
		if !there {
			i = len(matches)
			at[m.ID] = i
			matches = append(matches, m)
		}
		if before == nil {
			broken[m.ID] = true
			continue
		}
		p.Before, p.After, p.StreakBefore = *before, *after, *streak
		matches[i].Parts = append(matches[i].Parts, p)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read matches: %w", err)
	}
	matches = slices.DeleteFunc(matches, func(m ladderMatch) bool { return broken[m.ID] || !m.HasBothSides() })
	slices.SortFunc(matches, func(a, b ladderMatch) int {
		return cmp.Or(cmp.Compare(a.ladder, b.ladder), cmp.Compare(a.Number, b.Number))
	})
	return matches, nil
}
