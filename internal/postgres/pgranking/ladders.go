package pgranking

import (
	"github.com/jackc/pgx/v5"

	"elobot/internal/ladder"
	"elobot/internal/notice"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// queueApplies reads the ladder that a message implies by what it replies to, or by its topic. For
// a reply, that is the ladder of the matches that the replied-to message shows and of the first
// match that was reported in it, if all of them are in one ladder. Otherwise it is the ladder to
// which the topic is bound, or 0 if there is none.
func queueApplies(batch *pgx.Batch, q ranking.Query, ladder *ladder.ID) {
	const sql = `
		SELECT coalesce((
		    SELECT CASE WHEN min(m.ladder_id) = max(m.ladder_id) THEN min(m.ladder_id) END
		    FROM (SELECT match_id AS id FROM match_messages WHERE telegram_chat_id = $1 AND telegram_message_id = $2
		          UNION ALL SELECT id FROM matches WHERE idempotency_key = $3) AS shown
		    CROSS JOIN LATERAL (SELECT * FROM matches WHERE id = shown.id LIMIT 1) AS m
		    WHERE m.group_id = ` + postgres.ThisGroup + `),
		    (SELECT ladder_id FROM topics WHERE chat_id = ` + postgres.ThisChat + ` AND thread_id = $4), 0)`
	batch.Queue(sql, q.Chat.ID, q.Replied.Message, q.Replied.Key, q.Thread).
		QueryRow(func(row pgx.Row) error { return row.Scan(ladder) })
}

// queueTopics sets which topics of the chat are bound to each of the ladders, which must have been
// read before.
func queueTopics(batch *pgx.Batch, chat ranking.ExternalChatID, ladders *[]ranking.GroupLadder) {
	const sql = `
		SELECT ladder_id, array_agg(thread_id) FROM topics WHERE chat_id = ` + postgres.ThisChat + ` GROUP BY ladder_id`
	batch.Queue(sql, chat).Query(func(rows pgx.Rows) error {
		var ladder ladder.ID
		var topics []int64
		_, err := pgx.ForEachRow(rows, []any{&ladder, &topics}, func() error {
			for i := range *ladders {
				if l := &(*ladders)[i]; l.ID == ladder {
					l.Topics = topics
				}
			}
			return nil
		})
		return err
	})
}

// queueLadder changes the ladders of a group, or the ladder of a topic. The caller holds the
// group's lock, so the ladders are still as they were read.
func queueLadder(batch *pgx.Batch, c ranking.Changes, l *ranking.ChangedLadder) {
	const named = `UPDATE ladders SET name = $2 WHERE id = $1`
	switch l.Change {
	case ranking.AddLadder:
		if l.First != 0 {
			batch.Queue(named, l.First, l.Names[0])
		}
		batch.Queue(`
			WITH l AS (
			    INSERT INTO ladders (group_id, is_default, name, season_id)
			    VALUES ($1, false, $2, nextval('seasons_id_seq')) RETURNING *)`+postgres.FirstSeason,
			l.Group, l.Names[len(l.Names)-1])
	case ranking.RenameLadder:
		batch.Queue(named, l.Ladder, l.Names[0])
	case ranking.UseLadder:
		batch.Queue(`UPDATE ladders SET archived_at = NULL WHERE id = $1`, l.Ladder)
		if l.Thread != 0 {
			batch.Queue(`
				INSERT INTO topics (chat_id, thread_id, ladder_id) VALUES ($1, $2, $3)
				ON CONFLICT ON CONSTRAINT topics_pkey DO UPDATE SET ladder_id = excluded.ladder_id`, l.Chat, l.Thread, l.Ladder)
			break
		}
		batch.Queue(`UPDATE ladders SET is_default = false WHERE group_id = $1 AND is_default`, l.Group)
		batch.Queue(`UPDATE ladders SET is_default = true WHERE id = $1`, l.Ladder)
	case ranking.UnbindTopic:
		batch.Queue(`DELETE FROM topics WHERE chat_id = $1 AND thread_id = $2`, l.Chat, l.Thread)
	case ranking.ArchiveLadder:
		batch.Queue(`UPDATE ladders SET archived_at = coalesce(archived_at, now()) WHERE id = $1`, l.Ladder)
		queueEndedBoard(batch, c, l.Ladder)
	}
}

// queueNotArchived makes the batch fail if one of the ladders is archived. Their groups must be
// locked. Callers skip the check in groups with a single ladder.
func queueNotArchived(batch *pgx.Batch, ladders []ladder.ID) {
	if len(ladders) == 0 {
		return
	}
	batch.Queue(`
		SELECT (count(*) = cardinality($1::bigint[]))::unchanged
		FROM ladders WHERE id = ANY ($1) AND archived_at IS NULL`, ladders)
}

// queueEndedBoard turns off a ladder's board, if there is one, and queues an update of the board's
// message.
func queueEndedBoard(batch *pgx.Batch, c ranking.Changes, ladder ladder.ID) {
	batch.Queue(`
		WITH b AS (DELETE FROM boards WHERE ladder_id = $6 RETURNING *)
		INSERT INTO outbox (chat_id, key, kind, purpose, payload, action, object, thread_id, supersede_key, alone, expires_at)
		SELECT $1, $2, $3, $4, '{}', 'ensure', `+postgres.BoardObject+`,
		       thread_id, `+postgres.BoardObject+`, true, now() + $5::interval FROM b
		ON CONFLICT (chat_id, supersede_key) WHERE supersede_key IS NOT NULL DO UPDATE
		SET key = excluded.key, expires_at = excluded.expires_at`,
		c.Chat, c.Key, ranking.KindBoard, notice.Notification, boardLifetime, ladder)
}
