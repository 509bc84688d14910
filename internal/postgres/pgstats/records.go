package pgstats

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/ladder"
	"elobot/internal/postgres"
	"elobot/internal/stats"
)

// MatchesOf implements stats.Store.
func (s *Store) MatchesOf(
	ctx context.Context, in ladder.ID, since, until time.Time,
) (matches []ladder.Match, err error) {
	var batch pgx.Batch
	queueCounted(&batch, &matches, ofTime, ofAnySeason, in, since, until)
	return matches, s.send(ctx, &batch)
}

// Records implements stats.Store.
func (s *Store) Records(ctx context.Context, in ladder.ID, since time.Time) (stats.Records, error) {
	var n stats.Records
	var batch pgx.Batch
	queueRecord(&batch, in, highestRating, &n.Rating)
	queueRecord(&batch, in, longestStreak, &n.Streak)
	queueMostMatches(&batch, in, &n.Played)
	queueLargestUpset(&batch, `ladder_id = `+thisLadder, &n.Upset, in)
	queueRivalry(&batch, in, since, &n.Rivalry)
	if err := s.send(ctx, &batch); err != nil {
		return stats.Records{}, err
	}
	return n, nil
}

// holders returns a query for the first match in which a standing of the ladder reached the highest
// value of a column. reached is the condition that the history entry h of the match m reached it.
// If several players reached the value in the same match, the query returns the player with the
// smallest id.
func holders(column, reached string) string {
	return `
		WITH top AS MATERIALIZED (
		    SELECT player_id, value FROM (
		        SELECT player_id, ` + column + ` AS value, rank() OVER (ORDER BY ` + column + ` DESC) AS place
		        FROM group_players WHERE season_id = ` + anySeason + ` AND ` + column + ` IS NOT NULL) AS s
		    WHERE place = 1
		)
		SELECT top.player_id, top.value, m.number, m.played_at
		FROM top
		CROSS JOIN LATERAL (
		    SELECT match_id, side FROM match_players WHERE player_id = top.player_id OFFSET 0) AS p
		CROSS JOIN LATERAL (SELECT * FROM matches WHERE id = p.match_id AND undone_at IS NULL LIMIT 1) AS m
		CROSS JOIN LATERAL (
		    SELECT * FROM elo_history
		    WHERE match_id = m.id AND player_id = top.player_id AND superseded_at = 'infinity' LIMIT 1) AS h
		WHERE m.ladder_id = ` + thisLadder + ` AND ` + reached + `
		ORDER BY ` + postgres.Position + `, top.player_id LIMIT 1`
}

// highestRating and longestStreak are the queries for two records. Neither a start rating nor a
// single win is a record.
var (
	highestRating = holders(`CASE WHEN best_elo > start_elo THEN best_elo END`, `h.elo_after = top.value`)
	longestStreak = holders(fmt.Sprintf(`CASE WHEN longest_streak >= %d THEN longest_streak END`, stats.MinStreak),
		`greatest(h.streak_before, 0) + 1 = top.value AND p.side = `+postgres.Winner)
)

// queueRecord reads a record with sql, a query that holders has returned.
func queueRecord(batch *pgx.Batch, in ladder.ID, sql string, to **stats.Record) {
	queueOne(batch, to, func(row pgx.CollectableRow) (stats.Record, error) {
		r := stats.Record{In: new(stats.MatchRef)}
		err := row.Scan(&r.Name.Player, &r.Value, &r.In.Number, &r.In.At)
		r.In.At = r.In.At.UTC()
		return r, err
	}, sql, in)
}

// queueMostMatches reads the player with the most matches.
func queueMostMatches(batch *pgx.Batch, in ladder.ID, to **stats.Record) {
	const sql = `
		SELECT player_id, sum(played) AS played FROM group_players WHERE season_id = ` + anySeason + ` AND played > 0
		GROUP BY player_id ORDER BY played DESC, player_id LIMIT 1`
	queueOne(batch, to, func(row pgx.CollectableRow) (r stats.Record, err error) {
		err = row.Scan(&r.Name.Player, &r.Value)
		return r, err
	}, sql, in)
}

// queueLargestUpset reads the largest upset among certain matches. of is the SQL condition that
// selects them, and id its argument $1. Of a winning team, it reads the player with the smallest
// id.
func queueLargestUpset(batch *pgx.Batch, of string, to **stats.UpsetBy, id any) {
	sql := `
		SELECT m.number, m.played_at, m.upset,
		       (SELECT min(player_id) FROM match_players WHERE match_id = m.id AND side = ` + postgres.Winner + `),
		       ARRAY(SELECT player_id FROM match_players
		           WHERE match_id = m.id AND side <> ` + postgres.Winner + ` ORDER BY place)
		FROM (SELECT * FROM matches m WHERE ` + of + ` AND upset IS NOT NULL AND undone_at IS NULL
		      ORDER BY upset DESC, ` + postgres.Position + ` LIMIT 1) AS m`
	queueOne(batch, to, func(row pgx.CollectableRow) (u stats.UpsetBy, err error) {
		var beaten []ladder.PlayerID
		err = row.Scan(&u.Number, &u.At, &u.By, &u.Name.Player, &beaten)
		u.At, u.Beaten = u.At.UTC(), names(beaten)
		return u, err
	}, sql, id)
}

// queueRivalry reads the two rivals, as stats.RivalryOf defines them, who have played the most
// matches against each other since a time.
func queueRivalry(batch *pgx.Batch, in ladder.ID, since time.Time, to **stats.RivalryOf) {
	const sql = `
		SELECT * FROM (
		    SELECT a.player_id, b.player_id AS other_id, count(*) AS played,
		           count(*) FILTER (WHERE a.side = ` + postgres.Winner + `) AS won,
		           count(*) FILTER (WHERE ` + postgres.Winner + ` = 0) AS drawn,
		           count(*) FILTER (WHERE b.side = ` + postgres.Winner + `) AS lost
		    FROM (SELECT * FROM matches
		          WHERE ladder_id = ` + thisLadder + ` AND played_at >= $2
		            AND undone_at IS NULL OFFSET 0) AS m
		    CROSS JOIN LATERAL (SELECT * FROM match_players WHERE match_id = m.id OFFSET 0) AS a
		    CROSS JOIN LATERAL (
		        SELECT * FROM match_players
		        WHERE match_id = m.id AND side <> a.side AND player_id > a.player_id OFFSET 0) AS b
		    GROUP BY a.player_id, b.player_id) AS pairs
		WHERE played >= $3 AND 100 * least(won, lost) >= $4 * played
		ORDER BY played DESC, player_id, other_id LIMIT 1`
	queueOne(batch, to, func(row pgx.CollectableRow) (r stats.RivalryOf, err error) {
		err = row.Scan(&r.Name.Player, &r.With.Player, &r.Played, &r.Won, &r.Drawn, &r.Lost)
		return r, err
	}, sql, in, since, stats.MinMatches, stats.RivalPercent)
}
