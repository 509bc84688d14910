package pgranking

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/notice"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// SeasonAt implements ranking.Store.
func (s *Store) SeasonAt(ctx context.Context, ladder ranking.LadderID, at time.Time) (season ranking.SeasonID, err error) {
	const sql = `
		SELECT id FROM seasons WHERE ladder_id = $1 AND (starts_at IS NULL OR starts_at <= $2) ORDER BY number DESC LIMIT 1`
	if err := s.db.QueryRow(ctx, sql, ladder, at).Scan(&season); err != nil {
		return 0, fmt.Errorf("find the season of a ladder: %w", postgres.Translate(err))
	}
	return season, nil
}

// queueNewSeason ends a season and starts the next one, in which all who were in the ladder begin afresh. The versions of the standings
// change, so that whoever has read them to record a match reads again which season goes on.
func queueNewSeason(batch *pgx.Batch, c ranking.Changes, n *ranking.NewSeason) {
	batch.Queue(`
		WITH ended AS (
		    UPDATE seasons s SET ends_at = $2, place_matches = l.place_matches, halfway = l.season_halfway
		    FROM ladders l WHERE s.id = $1 AND l.id = s.ladder_id AND l.season_id = s.id AND l.archived_at IS NULL
		    RETURNING s.*, l.start_elo
		), new AS (
		    INSERT INTO seasons (group_id, ladder_id, number, name, starts_at)
		    SELECT group_id, ladder_id, number + 1, nullif($3, ''), $2 FROM ended
		    RETURNING *
		), ladder AS (
		    UPDATE ladders SET season_id = (SELECT id FROM new) WHERE id = (SELECT ladder_id FROM new)
		), standing AS (
		    INSERT INTO group_players (season_id, player_id, name, elo, start_elo, best_elo, left_at)
		    SELECT new.id, s.player_id, s.name, begins.elo, begins.elo, begins.elo, s.left_at
		    FROM new, ended, group_players s, LATERAL (
		        SELECT ended.start_elo + CASE WHEN ended.halfway AND s.played > 0 THEN (s.elo - ended.start_elo) / 2 ELSE 0 END AS elo) AS begins
		    WHERE s.season_id = $1 ORDER BY s.id
		), old AS (
		    UPDATE group_players SET version = version + 1 WHERE season_id = $1
		)
		SELECT EXISTS (SELECT FROM new)::unchanged`, n.Ends, n.At, n.Name)
	batch.Queue(`
		INSERT INTO outbox (chat_id, key, kind, purpose, payload, action, object, thread_id, supersede_key, alone)
		SELECT $1, $2, $3, $4, '{}', 'ensure', place.object, place.thread_id, place.object, true
		FROM (SELECT $5 || coalesce(':' || thread_id, '') AS object, thread_id FROM (
		    SELECT CASE WHEN EXISTS (SELECT FROM boards WHERE ladder_id = $6) THEN (SELECT thread_id FROM boards WHERE ladder_id = $6)
		        ELSE (SELECT min(thread_id) FROM topics WHERE ladder_id = $6) END AS thread_id) AS topic) AS place`,
		c.Chat, c.Key, ranking.KindSeason, notice.Notification, ranking.SeasonObject(n.Ends), n.Ladder)
}

// queueCorrected lets the message that told how a season ended be brought up to date, if there is one.
func queueCorrected(batch *pgx.Batch, chat ranking.ChatID, key string, season ranking.SeasonID) {
	batch.Queue(`
		INSERT INTO outbox (chat_id, key, kind, purpose, payload, action, object, thread_id, supersede_key, alone)
		SELECT chat_id, $2, $3, $4, '{}', 'ensure', object, nullif(split_part(object, ':', 3), '')::bigint, object, true
		FROM ensured_messages WHERE chat_id = $1 AND (object = $5 OR starts_with(object, $5 || ':'))
		ON CONFLICT (chat_id, supersede_key) WHERE supersede_key IS NOT NULL DO UPDATE SET key = excluded.key`,
		chat, key, ranking.KindSeason, notice.Notification, ranking.SeasonObject(season))
}
