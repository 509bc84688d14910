package pgoutbox

import (
	"context"

	"github.com/jackc/pgx/v5"

	"elobot/internal/notice"
	"elobot/internal/outbox"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// maxSummarized limits how many rows of a lane one call of Summarize reads, so that the call is
// short.
const maxSummarized = 1000

// Summarize implements outbox.Store. It reads the first maxSummarized rows of each lane, and ends
// those that meet over. If more rows wait in a lane than the bound, it also ends answers to
// questions and match results, unless they may have arrived.
//
// Ended results become one summary for each topic, which shows the first five of them. The row of
// the first ended result keeps its position and becomes the summary. The rows of the other results
// get the summary's id as their batch, which queueSummaries reads. An older summary becomes part of
// the new one, unless it may have arrived. Rows that another transaction is changing stay as they
// are, because waiting for them could cause a deadlock.
func (s *Store) Summarize(
	ctx context.Context, epoch int64, lanes []outbox.Lane, bounds outbox.Bounds,
) (outbox.Summarized, error) {
	const sql = `
		WITH lane AS (
		    SELECT l.chat_id, l.lane, EXISTS (
		        SELECT FROM outbox o WHERE ` + waits + ` ORDER BY ` + inOrder + ` OFFSET $3) AS overfull
		    FROM unnest($1::bigint[], $2::smallint[]) AS l (chat_id, lane)
		), front AS (
		    SELECT l.overfull, o.* FROM lane l CROSS JOIN LATERAL (
		        SELECT o.id, o.chat_id, o.lane, o.thread_id, o.kind, o.payload, ` + over + ` AS over,
		               o.action = 'send' AND o.kind IN ($5, $6) AS result, o.purpose = $7 AS answer,
		               o.state = 'planned' AND o.possible_duplicates = 0 AS undelivered
		        FROM outbox o WHERE ` + waits + ` ORDER BY ` + inOrder + ` LIMIT (SELECT $4::bigint)
		        FOR NO KEY UPDATE OF o SKIP LOCKED) AS o
		), ending AS (
		    SELECT *, min(id) FILTER (WHERE result) OVER (PARTITION BY chat_id, lane, thread_id) AS summary
		    FROM front WHERE over OR undelivered AND (overfull AND (result OR answer) OR kind = $6)
		), summary AS (
		    SELECT summary AS id, jsonb_build_object(
		        'count', sum(CASE WHEN kind = $6 THEN (payload ->> 'count')::bigint ELSE 1 END) FILTER (WHERE result),
		        'results', jsonb_path_query_array(jsonb_path_query_array(
		            jsonb_agg(CASE WHEN kind = $6 THEN payload -> 'results' ELSE jsonb_build_array(payload) END ORDER BY id)
		                FILTER (WHERE result), '$[*][*]'), '$[0 to 4]'),
		        'answers', sum(CASE WHEN kind = $6 THEN (payload ->> 'answers')::bigint ELSE answer::integer END)) AS payload
		    FROM ending WHERE summary IS NOT NULL GROUP BY summary
		), summarized AS (
		    UPDATE outbox o
		    SET kind = $6, payload = s.payload, alone = true, addressee_id = NULL, addressee = '', reply_to = NULL,
		        expires_at = NULL, batch = NULL, attempts = 0, repeated = false,
		        possible_duplicates = 0 -- of a row in sending, the next take counts one
		    FROM summary s WHERE o.id = s.id AND o.id = ANY (ARRAY(SELECT id FROM summary))
		), ended AS (
		    UPDATE outbox o
		    SET state = 'expired', finished_at = now(), supersede_key = NULL, batch = CASE WHEN e.result THEN e.summary END,
		        last_error = coalesce(o.last_error, CASE WHEN e.over THEN 'too late' ELSE 'too much waits' END)
		    FROM ending e WHERE o.id = e.id AND o.id = ANY (ARRAY(SELECT id FROM ending)) AND o.id IS DISTINCT FROM e.summary
		), moved AS ( -- the results of summaries that are part of another one now
		    UPDATE outbox o SET batch = e.summary
		    FROM ending e
		    WHERE o.batch = e.id AND o.state = 'expired'
		      AND o.batch = ANY (ARRAY(SELECT id FROM ending WHERE kind = $6 AND id <> summary)))
		SELECT count(*) FILTER (WHERE over), count(*) FILTER (WHERE NOT over AND kind <> $6) FROM ending`
	chats := postgres.Column(lanes, func(l outbox.Lane) int64 { return int64(l.Chat) })
	kinds := postgres.Column(lanes, func(l outbox.Lane) outbox.LaneKind { return l.Kind })
	args := []any{
		chats, kinds, bounds.MaxWaiting, maxSummarized,
		notice.KindOf(ranking.MatchRecorded{}).Name, notice.KindOf(ranking.ResultsSummary{}).Name, notice.Answer,
	}
	var ended outbox.Summarized
	err := s.write(ctx, epoch, "summarize lanes", func(batch *pgx.Batch) {
		batch.Queue(sql, args...).QueryRow(func(row pgx.Row) error { return row.Scan(&ended.Expired, &ended.Dropped) })
	})
	if err != nil {
		return outbox.Summarized{}, err
	}
	return ended, nil
}

// queueSummaries records which matches each message with a summary covers. The recorded number of
// items is one too high, so that queueEdits never finds that many, and the message is never edited.
func queueSummaries(batch *pgx.Batch, results []outbox.Result) {
	queueFor(batch, results, func(r outbox.Result) bool {
		return r.Failure == nil && r.MessageID > 0 && r.Message.Row.Kind == notice.KindOf(ranking.ResultsSummary{}).Name
	}, `
		INSERT INTO match_messages (telegram_chat_id, telegram_message_id, match_id, outbox_id, covered)
		SELECT r.sent_to, r.message_id, told.match_id, r.id, 1 + count(*) OVER (PARTITION BY r.id)
		FROM `+theResults+`
		CROSS JOIN LATERAL (
		    SELECT match_id FROM outbox WHERE id = r.id
		    UNION ALL
		    SELECT match_id FROM outbox WHERE batch = r.id AND state = 'expired') AS told
		WHERE told.match_id IS NOT NULL
		ON CONFLICT ON CONSTRAINT match_messages_pkey DO NOTHING`)
}
