package pgstats

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"elobot/internal/ladder"
	"elobot/internal/postgres"
	"elobot/internal/stats"
)

// HavePlayed implements stats.Store.
func (s *Store) HavePlayed(ctx context.Context, in ladder.ID, players []ladder.PlayerID) ([]bool, error) {
	const sql = `
		SELECT coalesce((
		    SELECT bool_or(played > 0) FROM group_players
		    WHERE season_id = ` + anySeason + `
		    AND player_id = coalesce((SELECT merged_into FROM players WHERE id = asked.id), asked.id)
		), false)
		FROM unnest($2::bigint[]) WITH ORDINALITY AS asked (id, n) ORDER BY n`
	var played []bool
	var batch pgx.Batch
	queueAll(&batch, &played, pgx.RowTo[bool], sql, in, players)
	return played, s.send(ctx, &batch)
}

// Ratings implements stats.Store. It selects the matches by their time, so that it reads no matches
// before the period.
func (s *Store) Ratings(
	ctx context.Context, in ladder.ID, players []ladder.PlayerID, since time.Time,
) (stats.Ratings, error) {
	const sql = `
		WITH last AS MATERIALIZED (
		    SELECT id, season_id, ` + postgres.Position + ` AS position, played_at FROM matches m
		    WHERE ladder_id = ` + thisLadder + ` AND undone_at IS NULL
		      AND played_at > coalesce($2::timestamptz, '-infinity')
		    ORDER BY played_at DESC, position DESC LIMIT $3
		)
		SELECT h.player_id, last.season_id, last.played_at, last.position, h.elo_before, h.elo_after
		FROM last
		CROSS JOIN LATERAL (SELECT * FROM elo_history WHERE match_id = last.id AND superseded_at = 'infinity' OFFSET 0) AS h
		ORDER BY last.season_id, last.position` // a later season has a higher id
	r := stats.Ratings{Players: make([][]stats.Rating, len(players))}
	var known []ladder.PlayerID
	series := make(map[ladder.PlayerID][]stats.Rating)
	seasons := make(map[ladder.SeasonID]stats.SeasonStart)
	var batch pgx.Batch
	batch.Queue(title, in).QueryRow(func(row pgx.Row) error { return row.Scan(&r.Title) })
	batch.Queue(`
		SELECT one.id, (SELECT elo FROM group_players WHERE season_id = `+thisSeason+` AND player_id = one.id AND played > 0)
		FROM unnest($2::bigint[]) WITH ORDINALITY AS asked (id, n)
		CROSS JOIN LATERAL (SELECT coalesce((SELECT merged_into FROM players WHERE id = asked.id), asked.id) AS id) AS one
		ORDER BY n`, in, players).Query(func(rows pgx.Rows) error {
		var player ladder.PlayerID
		var elo *int
		_, err := pgx.ForEachRow(rows, []any{&player, &elo}, func() error {
			known, r.Elos = append(known, player), append(r.Elos, elo)
			return nil
		})
		return err
	})
	batch.Queue(`SELECT id, number, starts_at FROM seasons WHERE ladder_id = $1`, in).Query(func(rows pgx.Rows) error {
		var id ladder.SeasonID
		var s stats.SeasonStart
		_, err := pgx.ForEachRow(rows, []any{&id, &s.Number, (*zeronull.Timestamptz)(&s.At)}, func() error {
			seasons[id] = s
			return nil
		})
		return err
	})
	batch.Queue(sql, in, zeronull.Timestamptz(since), stats.ChartedMatches).Query(func(rows pgx.Rows) (err error) {
		r.Seasons, err = collectRatings(rows, seasons, series)
		return err
	})
	if err := s.send(ctx, &batch); err != nil {
		return stats.Ratings{}, err
	}
	for i, player := range known {
		r.Players[i] = series[player]
	}
	for _, player := range slices.Sorted(maps.Keys(series)) {
		if !slices.Contains(known, player) {
			r.Others = append(r.Others, series[player])
		}
	}
	return r, nil
}

// collectRatings adds the ratings after matches to the series of their players. A series, and each
// season in it, begins with the rating before its first match. collectRatings returns the starts of
// the seasons after the first one.
func collectRatings(
	rows pgx.Rows, seasons map[ladder.SeasonID]stats.SeasonStart, series map[ladder.PlayerID][]stats.Rating,
) (begun []stats.SeasonStart, err error) {
	var player ladder.PlayerID
	var season, last ladder.SeasonID
	var at time.Time
	var position ladder.Position
	var before, after int
	_, err = pgx.ForEachRow(rows, []any{&player, &season, &at, (*int64)(&position), &before, &after}, func() error {
		at, starts, number := at.UTC(), seasons[season], position.Number()
		if starts.At, starts.Match = starts.At.UTC(), number; last != 0 && season != last {
			begun = append(begun, starts)
		}
		last = season
		points := series[player]
		if n := len(points); n == 0 || points[n-1].At.Before(starts.At) {
			points = append(points, stats.Rating{At: at, Match: number - 1, Elo: before})
		}
		series[player] = append(points, stats.Rating{At: at, Match: number, Elo: after})
		return nil
	})
	return begun, err
}
