package pgranking

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"elobot/internal/ladder"
	"elobot/internal/notice"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// SeasonAt implements ranking.Store.
func (s *Store) SeasonAt(ctx context.Context, ladder ladder.ID, at time.Time) (season ladder.SeasonID, err error) {
	const sql = `
		SELECT id FROM seasons WHERE ladder_id = $1 AND (starts_at IS NULL OR starts_at <= $2) ORDER BY number DESC LIMIT 1`
	if err := s.db.QueryRow(ctx, sql, ladder, at).Scan(&season); err != nil {
		return 0, fmt.Errorf("find the season of a ladder: %w", Translate(err))
	}
	return season, nil
}

// queueSeason reads the key of a ladder's first match. It also reads the numbers of the matches in
// the current season that were played since q.ReportedSince and are not undone. It finds no such
// matches if q.ReportedSince is zero.
func queueSeason(batch *pgx.Batch, q ranking.Query, snap *ranking.Snapshot) {
	sql := `
		SELECT coalesce((
		           SELECT idempotency_key FROM matches m WHERE ladder_id = l.id
		           ORDER BY ` + postgres.Position + ` LIMIT 1), ''),
		       ARRAY(SELECT number FROM matches
		             WHERE ladder_id = l.id AND season_id = l.season_id AND played_at >= $3 AND undone_at IS NULL
		             ORDER BY number)
		FROM ladders l WHERE l.id = ` + postgres.LadderOf("id", postgres.ThisGroup, "$2")
	batch.Queue(sql, q.Chat.ID, q.Ladder, zeronull.Timestamptz(q.ReportedSince)).Query(func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, []any{&snap.FirstMatch, &snap.Since}, func() error { return nil })
		return err
	})
}

// queueOver reads the number of a season that is over. It sets number to 0 if the season is
// current.
func queueOver(batch *pgx.Batch, season ladder.SeasonID, number *int) {
	batch.Queue(`
		SELECT CASE WHEN l.season_id <> s.id THEN s.number ELSE 0 END FROM seasons s JOIN ladders l ON l.id = s.ladder_id
		WHERE s.id = $1`, season).
		QueryRow(func(row pgx.Row) error { return row.Scan(number) })
}

// queueNewSeason ends a season and starts the next one, in which every player of the ladder gets a
// new standing. The versions of the old standings change, so that a command that has read them to
// record a match conflicts and reads the new season. The batch fails if the season is not current
// or the ladder is archived.
func queueNewSeason(batch *pgx.Batch, c ranking.Changes, n *ranking.NewSeason) {
	batch.Queue(`
		WITH ended AS (
		    UPDATE seasons s SET ends_at = $2, place_matches = l.place_matches, halfway = l.season_halfway
		    FROM ladders l WHERE s.id = $1 AND l.id = s.ladder_id AND l.season_id = s.id AND l.archived_at IS NULL
		    RETURNING s.*, l.start_elo
		), new AS (
		    INSERT INTO seasons (group_id, ladder_id, number, name, starts_at, ends_at)
		    SELECT group_id, ladder_id, number + 1, nullif($3, ''), $2, $4 FROM ended
		    RETURNING *
		), timer AS (
		    INSERT INTO timers (key, chat_id, due_at)
		    SELECT '`+ranking.SeasonTimer+`' || ladder_id || ':' || id, $5, ends_at + $6::interval
		    FROM new WHERE ends_at IS NOT NULL
		), ladder AS (
		    UPDATE ladders SET season_id = (SELECT id FROM new) WHERE id = (SELECT ladder_id FROM new)
		), standing AS (
		    INSERT INTO group_players (season_id, player_id, name, elo, start_elo, best_elo, left_at)
		    SELECT new.id, s.player_id, s.name, begins.elo, begins.elo, begins.elo, s.left_at
		    FROM new, ended, group_players s, LATERAL (
		        SELECT ended.start_elo + CASE WHEN ended.halfway AND s.played > 0
		            THEN (s.elo - ended.start_elo) / 2 ELSE 0 END AS elo) AS begins
		    WHERE s.season_id = $1 AND s.named_id IS DISTINCT FROM s.player_id ORDER BY s.id
		), old AS (
		    UPDATE group_players SET version = version + 1 WHERE season_id = $1
		)
		SELECT EXISTS (SELECT FROM new)::unchanged`,
		n.Ends, n.At, n.Name, zeronull.Timestamptz(n.Until), c.Chat, ranking.AfterSeason)
	if n.Tells {
		batch.Queue(`DELETE FROM timers WHERE key = $1`, ranking.SeasonUntil{Ladder: n.Ladder, Season: n.Ends}.Timer())
		queueTold(batch, c.Chat, c.Key, n.Ends, "{}")
	}
}

// queueUntil changes the end of a season and its timer; a zero u.Until removes both. The batch
// fails unless the season is current.
func queueUntil(batch *pgx.Batch, chat ranking.ChatID, u ranking.SeasonUntil) {
	batch.Queue(`
		WITH until AS (
		    UPDATE seasons s SET ends_at = $2
		    FROM ladders l WHERE s.id = $1 AND l.id = s.ladder_id AND l.season_id = s.id RETURNING 1)
		SELECT EXISTS (SELECT FROM until)::unchanged`, u.Season, zeronull.Timestamptz(u.Until))
	if u.Until.IsZero() {
		batch.Queue(`DELETE FROM timers WHERE key = $1`, u.Timer())
		return
	}
	batch.Queue(`
		INSERT INTO timers (key, chat_id, due_at) VALUES ($1, $2, $3)
		ON CONFLICT ON CONSTRAINT timers_pkey DO UPDATE SET due_at = excluded.due_at`,
		u.Timer(), chat, u.Until.Add(ranking.AfterSeason))
}

// queueCorrected queues an update of the message about the end of a season, if the season is over
// and its end has been announced.
func queueCorrected(batch *pgx.Batch, chat ranking.ChatID, key string, season ladder.SeasonID) {
	queueTold(batch, chat, key, season, `{"corrected": true}`)
}

// queueGoesOn makes the batch fail unless the season is still current. The season's group must be
// locked.
func queueGoesOn(batch *pgx.Batch, season ladder.SeasonID) {
	batch.Queue(`
		SELECT EXISTS (
		    SELECT FROM ladders
		    WHERE season_id = $1 AND id = (SELECT ladder_id FROM seasons WHERE id = $1))::unchanged`, season)
}

// queueTold queues the message about the end of a season. It does nothing if the season is current,
// if its group is not in the chat, or if a timer will queue the message later. A message that
// exists or is waiting stays in its topic. A new message goes to the topic of the ladder's board,
// or to the ladder's first topic if there is no board.
func queueTold(batch *pgx.Batch, chat ranking.ChatID, key string, season ladder.SeasonID, payload string) {
	batch.Queue(`
		WITH ended AS (
		    SELECT s.id, s.ladder_id FROM seasons s JOIN ladders l ON l.id = s.ladder_id JOIN groups g ON g.id = s.group_id
		    WHERE s.id = $5 AND l.season_id <> s.id AND g.chat_id = $1
		      AND NOT EXISTS (SELECT FROM timers WHERE key = '`+ranking.SeasonTimer+`' || s.ladder_id || ':' || s.id)
		), place AS (
		    SELECT coalesce(
		        (SELECT object FROM ensured_messages WHERE chat_id = $1
		            AND (object = $6 OR starts_with(object, $6 || ':')) LIMIT 1),
		        (SELECT object FROM outbox WHERE chat_id = $1 AND finished_at IS NULL AND action = 'ensure'
		            AND (object = $6 OR starts_with(object, $6 || ':')) LIMIT 1),
		        $6 || coalesce(':' || CASE WHEN EXISTS (SELECT FROM boards b WHERE b.ladder_id = ended.ladder_id)
		            THEN (SELECT thread_id FROM boards b WHERE b.ladder_id = ended.ladder_id)
		            ELSE (SELECT min(thread_id) FROM topics t WHERE t.ladder_id = ended.ladder_id) END, '')) AS object
		    FROM ended)
		INSERT INTO outbox (chat_id, key, kind, purpose, payload, action, object, thread_id, supersede_key, alone)
		SELECT $1, $2, $3, $4, $7, 'ensure', object, nullif(split_part(object, ':', 3), '')::bigint, object, true FROM place
		ON CONFLICT (chat_id, supersede_key) WHERE supersede_key IS NOT NULL DO UPDATE SET key = excluded.key`,
		chat, key, ranking.KindSeason, notice.Notification, season, ranking.SeasonObject(season), payload)
}
