package pgstats

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"elobot/internal/ladder"
	"elobot/internal/stats"
)

// Season implements stats.Store.
func (s *Store) Season(ctx context.Context, in ladder.ID, number int) (n stats.SeasonTable, err error) {
	const sql = `
		SELECT s.id FROM seasons s JOIN ladders l ON l.id = s.ladder_id
		WHERE s.ladder_id = $1 AND CASE $2::integer WHEN 0 THEN s.id = l.season_id WHEN $3 THEN s.id <> l.season_id
		    ELSE s.number = $2 OR s.name = $2::text END
		ORDER BY s.number = $2 DESC, s.number DESC LIMIT 1`
	var id ladder.SeasonID
	var batch pgx.Batch
	batch.Queue(sql, in, number, stats.LastSeason).QueryRow(func(row pgx.Row) error {
		if err := row.Scan(&id); !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		return nil
	})
	if err := s.send(ctx, &batch); err != nil || id == 0 {
		return n, err
	}
	end, _, err := s.SeasonEnd(ctx, id)
	return end.SeasonTable, err
}

// SeasonEnd implements stats.Store.
func (s *Store) SeasonEnd(ctx context.Context, id ladder.SeasonID) (n stats.SeasonEnd, in ladder.ID, err error) {
	const season = `
		SELECT c.title || CASE WHEN (SELECT count(*) > 1 FROM ladders WHERE group_id = l.group_id)
		           THEN ' · ' || l.name ELSE '' END,
		       s.number, coalesce(s.name, ''), s.starts_at, s.ends_at, l.season_id <> s.id, NOT l.draws_allowed,
		       coalesce(s.place_matches, l.place_matches), l.id,
		       ARRAY(SELECT thread_id FROM topics WHERE ladder_id = l.id ORDER BY thread_id)
		FROM seasons s JOIN ladders l ON l.id = s.ladder_id
		JOIN groups g ON g.id = l.group_id JOIN chats c ON c.id = g.chat_id
		WHERE s.id = $1`
	// Players who have left are not in the table of the current season, but stay in the final
	// table.
	const standings = `
		SELECT s.player_id AS player, s.elo, s.won, s.drawn, s.lost, s.longest_streak, coalesce(next.start_elo, 0) AS next
		FROM (SELECT * FROM group_players
		      WHERE season_id = $1 AND played > 0
		        AND (left_at IS NULL OR NOT EXISTS (
		            SELECT FROM ladders l JOIN seasons o ON o.ladder_id = l.id WHERE o.id = $1 AND l.season_id = $1))
		     ) AS s
		LEFT JOIN (
		    SELECT later.id FROM seasons n JOIN seasons later ON later.ladder_id = n.ladder_id AND later.number = n.number + 1
		    WHERE n.id = $1 AND n.halfway) AS later ON true
		LEFT JOIN LATERAL (
		    SELECT * FROM group_players WHERE season_id = later.id AND player_id = s.player_id LIMIT 1) AS next ON true
		ORDER BY s.elo DESC, s.id`
	var placeMatches int
	var all []stats.SeasonStanding
	var batch pgx.Batch
	batch.Queue(season, id).QueryRow(func(row pgx.Row) error {
		return row.Scan(&n.Title, &n.Number, &n.Name, (*zeronull.Timestamptz)(&n.Since), (*zeronull.Timestamptz)(&n.Until),
			&n.Over, &n.NoDraws, &placeMatches, &in, &n.Topics)
	})
	queueAll(&batch, &all, pgx.RowToStructByName[stats.SeasonStanding], standings, id)
	queueLargestUpset(&batch, `ladder_id = (SELECT ladder_id FROM seasons WHERE id = $1) AND season_id = $1`, &n.Upset, id)
	if err := s.send(ctx, &batch); err != nil {
		return stats.SeasonEnd{}, 0, err
	}
	n.SetStandings(all, placeMatches)
	return n, in, nil
}

// SeasonResults implements stats.Store.
func (s *Store) SeasonResults(ctx context.Context, in ladder.ID) (results []stats.SeasonResult, err error) {
	const sql = `
		SELECT n.number AS season, coalesce(n.name, '') AS name, coalesce(n.starts_at, '0001-01-01 UTC') AS since,
		       coalesce(n.ends_at, '0001-01-01 UTC') AS until, l.season_id <> n.id AS over,
		       coalesce(n.place_matches, l.place_matches) AS place_matches, s.best_elo AS best,
		       l.season_id = n.id AND s.left_at IS NOT NULL AS "left",
		       s.player_id AS player, s.elo, s.won, s.drawn, s.lost, s.longest_streak, 0 AS next
		FROM seasons n JOIN ladders l ON l.id = n.ladder_id
		CROSS JOIN LATERAL (SELECT * FROM group_players WHERE season_id = n.id AND played > 0 OFFSET 0) AS s
		WHERE n.ladder_id = $1
		ORDER BY n.number, s.elo DESC, s.id`
	var batch pgx.Batch
	queueAll(&batch, &results, pgx.RowToStructByName[stats.SeasonResult], sql, in)
	return results, s.send(ctx, &batch)
}
