package pgstats

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// HavePlayed implements stats.Store.
func (s *Store) HavePlayed(ctx context.Context, chat ranking.ExternalChatID, players []ranking.PlayerID) ([]bool, error) {
	const sql = `
		SELECT coalesce((
		    SELECT played > 0 FROM group_players
		    WHERE ladder_id = ` + postgres.ThisLadder + ` AND player_id = coalesce((SELECT merged_into FROM players WHERE id = asked.id), asked.id)
		), false)
		FROM unnest($2::bigint[]) WITH ORDINALITY AS asked (id, n) ORDER BY n`
	var played []bool
	var batch pgx.Batch
	batch.Queue(sql, chat, players).Query(func(rows pgx.Rows) (err error) {
		played, err = pgx.CollectRows(rows, pgx.RowTo[bool])
		return err
	})
	err := s.send(ctx, &batch)
	return played, err
}

// isCharted is the condition that a match counts in a chart of the period that begins at $2.
const isCharted = `group_id = (SELECT in_group FROM us) AND ladder_id = (SELECT ladder FROM us) AND undone_at IS NULL
		      AND played_at > coalesce($2::timestamptz, '-infinity')`

// charted reads the ratings after the matches of a chart, by the number of the match. The matches are found by their time, so that those
// before the period are not read. Without more than $4 matches there are no moments, and all matches are recent. The best
// rating of a player may be one of the first month and before the period; then that of the second best month counts.
const charted = `
		WITH us AS MATERIALIZED (
		    SELECT ` + postgres.ThisGroup + ` AS in_group, ` + postgres.ThisLadder + ` AS ladder
		), highlighted AS MATERIALIZED (
		    SELECT coalesce((SELECT merged_into FROM players WHERE id = asked.id), asked.id) AS player FROM unnest($3::bigint[]) AS asked (id)
		), newest AS MATERIALIZED (
		    SELECT id, number, played_at, row_number() OVER (ORDER BY played_at DESC, number DESC) AS n FROM matches WHERE ` + isCharted + `
		    ORDER BY played_at DESC, number DESC LIMIT $4::integer + 1
		), recent AS MATERIALIZED (
		    SELECT id, number, played_at FROM newest WHERE n <= CASE WHEN (SELECT count(*) FROM newest) > $4 THEN $5::integer ELSE $4 END
		), moments AS MATERIALIZED (
		    SELECT earliest.played_at + n * (last.played_at - earliest.played_at) / $6::integer AS at
		    FROM (SELECT min(played_at) AS played_at FROM recent) AS last
		    CROSS JOIN (SELECT played_at FROM matches WHERE ` + isCharted + ` ORDER BY played_at LIMIT 1) AS earliest
		    CROSS JOIN generate_series(0, $6::integer) AS n
		    WHERE (SELECT count(*) FROM newest) > $4
		), own AS MATERIALIZED (
		    SELECT mp.match_id FROM moments CROSS JOIN highlighted CROSS JOIN LATERAL (
		        SELECT match_id FROM match_players
		        WHERE player_id = highlighted.player AND ladder_id = (SELECT ladder FROM us) AND played_at <= moments.at
		        ORDER BY played_at DESC, match_id DESC LIMIT 1) AS mp
		    UNION
		    SELECT best.best_match FROM highlighted CROSS JOIN LATERAL (
		        SELECT best_match FROM player_months WHERE ladder_id = (SELECT ladder FROM us) AND player_id = highlighted.player
		          AND month >= date_trunc('month', coalesce($2::timestamptz, '-infinity') AT TIME ZONE 'UTC')
		        ORDER BY best_elo DESC, month LIMIT 2) AS best
		    WHERE EXISTS (SELECT FROM moments)
		), shown AS MATERIALIZED (
		    SELECT id, number, played_at FROM recent
		    UNION
		    SELECT m.* FROM moments CROSS JOIN LATERAL (
		        SELECT id, number, played_at FROM matches WHERE ` + isCharted + ` AND played_at <= moments.at ORDER BY played_at DESC LIMIT 1) AS m
		    UNION
		    SELECT m.* FROM own CROSS JOIN LATERAL (
		        SELECT id, number, played_at FROM matches WHERE id = own.match_id AND ` + isCharted + ` LIMIT 1) AS m
		)
		SELECT h.player_id, shown.played_at, shown.number, h.elo_before, h.elo_after
		FROM shown
		CROSS JOIN LATERAL (SELECT * FROM elo_history WHERE match_id = shown.id AND superseded_at IS NULL OFFSET 0) AS h
		ORDER BY shown.number`

// Ratings implements stats.Store.
func (s *Store) Ratings(
	ctx context.Context, chat ranking.ExternalChatID, players []ranking.PlayerID, since time.Time,
) (stats.Ratings, error) {
	r := stats.Ratings{Players: make([][]stats.Rating, len(players))}
	known := slices.Clone(players)
	courses := make(map[ranking.PlayerID][]stats.Rating)
	var batch pgx.Batch
	batch.Queue(titleOf, chat).QueryRow(func(row pgx.Row) error { return row.Scan(&r.Title) })
	batch.Queue(`
		SELECT coalesce((SELECT merged_into FROM players WHERE id = asked.id), asked.id)
		FROM unnest($1::bigint[]) WITH ORDINALITY AS asked (id, n) ORDER BY n`, players).Query(func(rows pgx.Rows) (err error) {
		known, err = pgx.CollectRows(rows, pgx.RowTo[ranking.PlayerID])
		return err
	})
	batch.Queue(charted, chat, zeronull.Timestamptz(since), players, stats.ChartedMatches, stats.RecentlyCharted, stats.ChartedMoments).Query(func(rows pgx.Rows) error {
		return collectRatings(rows, courses)
	})
	if err := s.send(ctx, &batch); err != nil {
		return stats.Ratings{}, err
	}
	for i, player := range known {
		r.Players[i] = courses[player]
	}
	for _, player := range slices.Sorted(maps.Keys(courses)) {
		if !slices.Contains(known, player) {
			r.Others = append(r.Others, courses[player])
		}
	}
	return r, nil
}

// collectRatings adds the ratings after matches to those of their players.
func collectRatings(rows pgx.Rows, courses map[ranking.PlayerID][]stats.Rating) error {
	var player ranking.PlayerID
	var at time.Time
	var number, before, after int
	_, err := pgx.ForEachRow(rows, []any{&player, &at, &number, &before, &after}, func() error {
		at := at.UTC()
		if courses[player] == nil {
			courses[player] = []stats.Rating{{At: at, Match: number - 1, Elo: before}}
		}
		courses[player] = append(courses[player], stats.Rating{At: at, Match: number, Elo: after})
		return nil
	})
	return err
}
