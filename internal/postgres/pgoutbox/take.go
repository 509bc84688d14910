package pgoutbox

import (
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/outbox"
	"elobot/internal/postgres"
)

// queueTurns takes the next message of each lane. The returned turns are filled in when the batch
// runs.
func queueTurns(batch *pgx.Batch, lanes []outbox.Lane, bounds outbox.Bounds) []outbox.Turn {
	if len(lanes) == 0 {
		return nil
	}
	turns := make([]outbox.Turn, len(lanes))
	for i, l := range lanes {
		turns[i].Lane = l
	}
	chats := postgres.Column(lanes, func(l outbox.Lane) int64 { return int64(l.Chat) })
	kinds := postgres.Column(lanes, func(l outbox.Lane) outbox.LaneKind { return l.Kind })
	queueTake(batch, chats, kinds, max(bounds.Merge, 1), turns)
	queueEdits(batch, chats, kinds, turns)
	return turns
}

// itemColumns lists the columns of an outbox.Item, from an outbox row i. If there is no row, they
// are zero or null.
const itemColumns = `coalesce(i.id, 0) AS id, coalesce(i.key, '') AS key, coalesce(i.kind, '') AS kind, i.payload,
		       ` + postgres.NamesOfPlayers + ` AS names, coalesce(i.addressee_id, 0) AS addressee_id,
		       coalesce(i.addressee, '') AS addressee, coalesce(i.reply_to, 0) AS reply_to,
		       coalesce(i.callback_query_id, '') AS button, coalesce(i.attempts, 0) AS attempts,
		       coalesce(i.possible_duplicates, 0) AS possible_duplicates, coalesce(i.repeated, false) AS repeated,
		       coalesce(i.failures, 0) AS failures`

// mergeable is the condition that a row o can be sent in one message with the head l of its lane,
// if all rows between them can too.
//
// A head that has failed is sent alone, because any of the rows in its message may have been to
// blame. A row that can still be superseded is not merged. Rows are sent together only if they have
// equally many possible duplicates, because a message becomes uncertain as a whole.
const mergeable = `(o.id = l.id OR l.failures = 0 AND o.supersede_key IS NULL AND NOT l.alone AND NOT o.alone)
		    AND o.state = 'planned' AND o.action = 'send' AND o.possible_duplicates = l.possible_duplicates
		    AND o.thread_id IS NOT DISTINCT FROM l.thread_id AND o.language IS NOT DISTINCT FROM l.language
		    AND coalesce(o.not_before <= now() OR NOT ` + pausesValid + `, true) AND coalesce(o.expires_at > now(), true)`

// takeRows marks the next messages of the lanes as sending. It returns their items, each with the
// columns of its message. For a lane without a message, it returns one row without an item, unless
// nothing waits in the lane. It takes a row in its latest committed state, and not at all if the
// row has moved to another chat. It removes invalid pauses. If it tries a parked chat, it parks the
// chat for another minute. The column more tells whether rows wait in the lane behind the message;
// it is set only in the message's first item.
var takeRows = `
	WITH lane AS (
	    SELECT l.n, l.chat_id, l.lane, c.telegram_chat_id, c.kind = 'private' AS private, c.language,
	           c.tables, c.dark_charts, c.time_zone,
	           l.lane <> ` + answersLane + ` AND ` + postgres.Parked + ` AS parked,
	           CASE WHEN l.lane <> ` + answersLane + ` AND c.parked_at IS NOT NULL THEN c.id END AS tried,
	           CASE WHEN l.lane <> ` + answersLane + ` THEN c.frozen_until END AS frozen_until
	    FROM unnest($1::bigint[], $2::smallint[]) WITH ORDINALITY AS l (chat_id, lane, n)
	    JOIN chats c ON c.id = l.chat_id
	), head AS (
	    SELECT l.n, l.chat_id, l.lane, l.parked, l.tried,
	           CASE WHEN ` + pausesValid + ` THEN greatest(l.frozen_until, o.not_before) END AS due,
	           l.frozen_until > now() AND NOT ` + pausesValid + ` AS thaws,
	           o.id, o.state, o.action, o.alone, o.thread_id, o.language, o.batch, o.failures,
	           o.possible_duplicates, o.over
	    FROM lane l CROSS JOIN LATERAL (
	        SELECT o.*, ` + over + ` AS over FROM outbox o WHERE ` + waits + ` ORDER BY ` + inOrder + ` LIMIT 1) o
	), ready AS ( -- only one lane of a chat that is tried
	    SELECT DISTINCT ON (coalesce(tried, -n)) * FROM head
	    WHERE NOT parked AND NOT over AND coalesce(due <= now(), true) ORDER BY coalesce(tried, -n), lane
	), front AS ( -- what might be sent with the head
	    SELECT l.n, o.id, bool_and(o.mergeable) OVER (PARTITION BY l.n ORDER BY o.id) AS mergeable
	    FROM ready l CROSS JOIN LATERAL (
	        SELECT o.id, ` + mergeable + ` AS mergeable
	        FROM outbox o WHERE ` + waits + ` ORDER BY ` + inOrder + ` LIMIT (SELECT $3::bigint)) o
	    WHERE l.state = 'planned' AND l.action = 'send'
	), member AS (
	    SELECT n, id FROM ready WHERE batch IS NULL AND NOT (state = 'planned' AND action = 'send')
	    UNION ALL
	    SELECT l.n, o.id FROM ready l JOIN outbox o USING (batch)
	    WHERE o.batch = ANY (ARRAY(SELECT batch FROM ready)) AND o.state = 'sending'
	    UNION ALL
	    SELECT n, id FROM front WHERE mergeable
	), message AS (
	    SELECT m.n, m.id, l.chat_id, min(m.id) OVER lane AS first, max(m.id) OVER lane AS last, count(*) OVER lane AS size
	    FROM member m JOIN lane l USING (n)
	    WINDOW lane AS (PARTITION BY m.n)
	), taken AS (
	    UPDATE outbox o
	    SET state = 'sending', attempts = o.attempts + 1, tried_at = now(), not_before = NULL, supersede_key = NULL,
	        batch = CASE WHEN m.size > 1 THEN m.first END,
	        repeated = o.state = 'sending', possible_duplicates = o.possible_duplicates + (o.state = 'sending')::integer
	    FROM message m
	    WHERE o.id = m.id AND o.id = ANY (ARRAY(SELECT id FROM message)) AND o.chat_id = m.chat_id
	    RETURNING m.n, m.first, m.last, o.*
	), thawed AS (
	    UPDATE chats SET frozen_until = NULL WHERE id = ANY (ARRAY(SELECT chat_id FROM ready WHERE thaws))
	), tried AS ( -- nothing else is sent there until the outcome is known, if it ever is
	    UPDATE chats SET parked_at = now(), parked_until = now() + interval '1 minute'
	    WHERE id = ANY (ARRAY(SELECT tried FROM ready)) AND parked_at IS NOT NULL)
	SELECT l.n,
	       CASE WHEN h.parked THEN '0' WHEN h.over THEN '10 ms' ELSE greatest('0', h.due - now()) END::interval AS wait,
	       h.over AND NOT h.parked AS over, l.telegram_chat_id AS external_chat,
	       l.private, coalesce(i.language, l.language) AS language,
	       h.tried IS NOT NULL AS parked, l.tables, l.dark_charts AS dark, l.time_zone,
	       coalesce(CASE WHEN i.payload ? 'web' THEN (
	           SELECT web_salt::text FROM groups WHERE chat_id = l.chat_id AND web_on) END, '') AS web_salt,
	       coalesce(CASE WHEN i.id = i.first THEN (
	           SELECT true FROM outbox o
	           WHERE o.finished_at IS NULL AND ` + rowPosition + ` > (l.chat_id, l.lane, i.last)
	             AND ` + rowLane + ` <= (l.chat_id, l.lane)
	           ORDER BY ` + inOrder + ` LIMIT 1) END, false) AS more,
	       coalesce(i.action, '') AS action, coalesce(i.purpose, '') AS purpose, coalesce(i.thread_id, 0) AS thread,
	       coalesce(i.object, '') AS object, coalesce(i.edited_message_id, m.telegram_message_id, 0) AS target,
	       coalesce(m.fingerprint, '') AS known_fingerprint,
	       ` + itemColumns + `
	FROM lane l JOIN head h USING (n) LEFT JOIN taken i USING (n)
	LEFT JOIN ensured_messages m ON i.action = 'ensure' AND m.chat_id = i.chat_id AND m.object = i.object
	ORDER BY l.n, i.id`

// queueTake queues the query that takes a message from the head of each lane and fills in its turn.
// The message consists of
//   - the rows that were taken together before, if it is unknown whether they were sent;
//   - or as many waiting notices of the same topic as can be sent together, at most merge;
//   - or the first notice alone.
func queueTake(batch *pgx.Batch, chats []int64, kinds []outbox.LaneKind, merge int, turns []outbox.Turn) {
	type takenRow struct {
		N    int // number of the turn, from 1
		Wait time.Duration
		Over bool
		outbox.Message
		outbox.Item // zero if nothing was taken
	}
	batch.Queue(takeRows, chats, kinds, merge).Query(func(rows pgx.Rows) error {
		taken, err := pgx.CollectRows(rows, pgx.RowToStructByNameLax[takenRow])
		for _, r := range taken {
			turn := &turns[r.N-1]
			switch {
			case r.ID == 0:
				turn.Wait, turn.Over = r.Wait, r.Over
			case turn.Message == nil:
				r.Lane, r.Row, r.Items = turn.Lane, r.Item, []outbox.Item{r.Item}
				turn.Message = &r.Message
			default:
				turn.Message.Items = append(turn.Message.Items, r.Item)
			}
		}
		return err
	})
}
