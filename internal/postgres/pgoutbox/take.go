package pgoutbox

import (
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/outbox"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// maxNamed is how many results a message names if it stands for all excess ones.
const maxNamed = 5

// maxPerLane bounds how many rows of a lane expire or are taken in one statement, so that no statement takes long.
const maxPerLane = 500

// queueTurns takes what lanes have to send. The returned turns are filled in when the batch has run.
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
	bounds.Merge, bounds.MaxWaiting = max(bounds.Merge, 1), max(bounds.MaxWaiting, 1)
	queueExpiry(batch, chats, kinds, bounds, turns)
	queueTake(batch, chats, kinds, bounds, turns)
	queueEdits(batch, chats, kinds, turns)
	queueObjects(batch, chats, kinds, turns)
	return turns
}

// queueExpiry ends notices that are not to be sent any more. These are late ones, among the first rows up to the
// bound of waiting ones, and all answers to questions in lanes where more rows wait. The latter end only if they
// cannot have been sent. Of the pages of a message, all but the newest end, whether they have been tried or not.
//
// Late results are counted, unless they are known to be sent. The first one keeps its position and becomes a notice
// with their number. If such a notice waits already, their number is added to it. That notice waits until no more
// late results can follow it.
func queueExpiry(batch *pgx.Batch, chats []int64, kinds []outbox.LaneKind, bounds outbox.Bounds, turns []outbox.Turn) {
	const sql = `
		WITH lane AS (
		    SELECT * FROM unnest($1::bigint[], $2::smallint[]) WITH ORDINALITY AS l (chat_id, lane, n)
		), front AS (
		    SELECT l.n, o.id, o.late, o.outdated, o.late AND o.result AS unsent, o.summary, row_number() OVER lane AS place
		    FROM lane l CROSS JOIN LATERAL (
		        SELECT o.id, coalesce(o.expires_at <= now(), false) AS late,
		               o.kind = $5 AND o.action = 'send' AND o.purpose = 'outcome' AS result,
		               o.kind = $6 AND o.state = 'planned' AS summary,
		               o.action = 'page' AND EXISTS (
		                   SELECT FROM outbox n WHERE n.chat_id = o.chat_id AND n.edited_message_id = o.edited_message_id
		                     AND n.id > o.id AND n.finished_at IS NULL) AS outdated
		        FROM outbox o WHERE ` + waits + ` ORDER BY ` + inOrder + ` LIMIT (SELECT $3 + 1)) o
		    WINDOW lane AS (PARTITION BY l.n ORDER BY o.id)
		), unsent AS (
		    SELECT n, coalesce(min(id) FILTER (WHERE summary), min(id) FILTER (WHERE unsent)) AS id,
		           count(*) FILTER (WHERE unsent) AS results, bool_or(late AND place > $3) AS more
		    FROM front GROUP BY n HAVING bool_or(unsent)
		), summarized AS (
		    UPDATE outbox o
		    SET kind = $6, match_id = NULL, reply_to = NULL, addressee = '', expires_at = NULL,
		        state = 'planned', batch = NULL, unnamed = false, repeated = false, possible_duplicates = 0,
		        payload = jsonb_build_object('count',
		            u.results + CASE WHEN o.kind = $6 THEN (o.payload ->> 'count')::bigint ELSE 0 END),
		        not_before = greatest(o.not_before, CASE WHEN u.more THEN now() + interval '1 ms' END)
		    FROM unsent u WHERE o.id = u.id AND o.id = ANY (ARRAY(SELECT id FROM unsent)) AND ` + unfinished + `
		    RETURNING u.n, EXISTS (SELECT FROM front f WHERE f.id = u.id AND f.unsent) AS unsent
		), overfull AS (
		    SELECT * FROM lane WHERE n IN (SELECT n FROM front WHERE NOT late GROUP BY n HAVING count(*) > $3)
		), ending AS (
		    SELECT n, id, CASE WHEN late THEN 'too late' ELSE 'a newer page exists' END AS reason
		    FROM front WHERE (late OR outdated) AND id NOT IN (SELECT id FROM unsent)
		    UNION ALL
		    (SELECT l.n, o.id, 'too much waits'
		    FROM overfull l JOIN outbox o ON o.chat_id = l.chat_id AND o.lane = l.lane
		    WHERE o.chat_id = ANY (ARRAY(SELECT chat_id FROM overfull)) AND o.finished_at IS NULL
		      AND o.purpose = 'answer' AND o.state = 'planned' AND coalesce(o.expires_at > now(), true)
		    LIMIT $4)
		), ended AS (
		    UPDATE outbox o
		    SET state = 'expired', finished_at = now(), last_error = coalesce(o.last_error, e.reason),
		        supersede_key = NULL, batch = NULL
		    FROM ending e WHERE o.id = e.id AND o.id = ANY (ARRAY(SELECT id FROM ending)) AND ` + unfinished + `
		    RETURNING e.n, e.reason
		), counted AS (
		    SELECT n, reason FROM ended
		    UNION ALL
		    SELECT n, 'too late' FROM summarized WHERE unsent)
		SELECT n, count(*) FILTER (WHERE reason = 'too late'), count(*) FILTER (WHERE reason = 'too much waits')
		FROM counted GROUP BY n`
	args := []any{chats, kinds, bounds.MaxWaiting, maxPerLane, ranking.KindMatchRecorded, ranking.KindResultsExpired}
	batch.Queue(sql, args...).Query(func(rows pgx.Rows) error {
		var n, late, dropped int
		_, err := pgx.ForEachRow(rows, []any{&n, &late, &dropped}, func() error {
			turns[n-1].Expired, turns[n-1].Dropped = late, dropped
			return nil
		})
		return err
	})
}

// itemColumns are the columns of an outbox row i that make an item, for itemFields.
const itemColumns = `coalesce(i.id, 0), coalesce(i.key, ''), coalesce(i.kind, ''), i.payload, ` + postgres.NamesOfPlayers + `,
		       coalesce(i.addressee_id, 0), coalesce(i.addressee, ''),
		       coalesce(i.reply_to, 0), coalesce(i.callback_query_id, ''), coalesce(i.attempts, 0),
		       coalesce(i.possible_duplicates, 0), coalesce(i.repeated, false), coalesce(i.failures, 0)`

func itemFields(i *outbox.Item) []any {
	return []any{&i.ID, &i.Key, &i.Kind, &i.Payload, &i.Names, &i.AddresseeID, &i.Addressee, &i.ReplyTo, &i.Button,
		&i.Attempts, &i.PossibleDuplicates, &i.PreviousUnknown, &i.Failures}
}

// mergeable is the condition that a row o can be sent in one message with the head l of its lane, provided that all
// rows between them can.
//
// A head that has failed is sent alone, because nobody knows which of the rows sent with it was to blame. A row that
// can still be added to or superseded stays back until it is the head. Rows go together only if they have the same number of possible duplicates,
// because such a message becomes uncertain as a whole.
const mergeable = `(o.id = l.id OR l.failures = 0 AND o.supersede_key IS NULL AND NOT l.alone AND NOT o.alone)
		    AND o.state = 'planned' AND o.action = 'send' AND o.possible_duplicates = l.possible_duplicates
		    AND o.thread_id IS NOT DISTINCT FROM l.thread_id AND o.language IS NOT DISTINCT FROM l.language
		    AND coalesce(o.not_before <= now() OR NOT ` + pausesCount + `, true) AND coalesce(o.expires_at > now(), true)`

// takeRows marks what the lanes have to send as being sent, and returns the items that each message names. A row is
// taken as its last change has left it, and not at all if it has passed to another chat. Invalid pauses end for good.
// The first item says whether more rows wait.
const takeRows = `
	WITH lane AS (
	    SELECT l.n, l.chat_id, l.lane, c.telegram_chat_id, c.kind = 'private' AS private, c.language, c.tables, c.dark_charts,
	           l.lane <> 1 AND c.parked_at IS NOT NULL AS parked,
	           CASE WHEN l.lane <> 1 THEN c.frozen_until END AS frozen_until
	    FROM unnest($1::bigint[], $2::smallint[]) WITH ORDINALITY AS l (chat_id, lane, n)
	    JOIN chats c ON c.id = l.chat_id
	), head AS (
	    SELECT l.n, l.chat_id, l.lane, l.parked,
	           CASE WHEN ` + pausesCount + ` THEN greatest(l.frozen_until, o.not_before) END AS due,
	           l.frozen_until > now() AND NOT ` + pausesCount + ` AS thaws,
	           o.id, o.state, o.action, o.alone, o.thread_id, o.language, o.batch, o.failures, o.possible_duplicates, o.late
	    FROM lane l CROSS JOIN LATERAL (
	        SELECT o.*, coalesce(o.expires_at <= now(), false) AS late
	        FROM outbox o WHERE ` + waits + ` ORDER BY ` + inOrder + ` LIMIT 1) o
	), ready AS (
	    SELECT * FROM head WHERE NOT parked AND NOT late AND coalesce(due <= now(), true)
	), front AS ( -- what might be sent with the head
	    SELECT l.n, o.id, row_number() OVER lane AS place,
	           bool_and(o.mergeable) OVER lane AS mergeable, bool_and(o.mergeable AND o.result) OVER lane AS results
	    FROM ready l CROSS JOIN LATERAL (
	        SELECT o.id, ` + mergeable + ` AS mergeable, o.kind = $5 AS result
	        FROM outbox o WHERE ` + waits + ` ORDER BY ` + inOrder + ` LIMIT (SELECT $3 + 1)) o
	    WHERE l.state = 'planned' AND l.action = 'send'
	    WINDOW lane AS (PARTITION BY l.n ORDER BY o.id)
	), overfull AS ( -- the rows before the tail are in excess
	    SELECT l.n, l.chat_id, l.lane, l.id, l.alone, l.thread_id, l.language, l.failures, l.possible_duplicates, tail.id AS tail
	    FROM ready l CROSS JOIN LATERAL (
	        SELECT o.id FROM outbox o WHERE ` + waits + ` ORDER BY ` + fromTheEnd + `
	        OFFSET (SELECT $4 - 1) LIMIT 1) AS tail
	    WHERE l.n IN (SELECT n FROM front WHERE results GROUP BY n HAVING count(*) > $3)
	), excess AS ( -- of these, the results from the first on
	    SELECT l.n, o.id, row_number() OVER lane AS place, count(*) OVER (PARTITION BY l.n) AS size
	    FROM (
	        SELECT l.*, coalesce((
	            SELECT o.id FROM outbox o
	            WHERE ` + waits + ` AND ` + rowPosition + ` < (l.chat_id, l.lane, l.tail)
	              AND NOT (` + mergeable + ` AND o.kind = $5)
	            ORDER BY ` + inOrder + ` LIMIT 1), l.tail) AS stop
	        FROM overfull l) AS l
	    CROSS JOIN LATERAL (
	        SELECT o.id FROM outbox o WHERE ` + waits + ` AND ` + rowPosition + ` < (l.chat_id, l.lane, l.stop)
	        ORDER BY ` + inOrder + ` LIMIT (SELECT $7::bigint)) AS o
	    WINDOW lane AS (PARTITION BY l.n ORDER BY o.id)
	), member AS (
	    SELECT n, id, false AS unnamed FROM ready WHERE batch IS NULL AND NOT (state = 'planned' AND action = 'send')
	    UNION ALL
	    SELECT l.n, o.id, o.unnamed AND row_number() OVER (PARTITION BY l.n ORDER BY o.id) > $6
	    FROM ready l JOIN outbox o USING (batch)
	    WHERE o.batch = ANY (ARRAY(SELECT batch FROM ready)) AND o.state = 'sending'
	    UNION ALL
	    SELECT n, id, place > $6 FROM excess WHERE size > $6
	    UNION ALL
	    SELECT n, id, false FROM front
	    WHERE mergeable AND place <= $3 AND n NOT IN (SELECT n FROM excess WHERE size > $6)
	), message AS (
	    SELECT m.n, m.id, m.unnamed, l.chat_id,
	           min(m.id) OVER lane AS first, max(m.id) OVER lane AS last, count(*) OVER lane AS size
	    FROM member m JOIN lane l USING (n)
	    WINDOW lane AS (PARTITION BY m.n)
	), taken AS (
	    UPDATE outbox o
	    SET state = 'sending', attempts = o.attempts + 1, tried_at = now(), not_before = NULL, supersede_key = NULL,
	        batch = CASE WHEN m.size > 1 THEN m.first END, unnamed = m.unnamed,
	        repeated = o.state = 'sending', possible_duplicates = o.possible_duplicates + (o.state = 'sending')::integer
	    FROM message m
	    WHERE o.id = m.id AND o.id = ANY (ARRAY(SELECT id FROM message)) AND o.chat_id = m.chat_id
	    RETURNING m.n, m.first, m.last, m.size, o.*
	), thawed AS (
	    UPDATE chats SET frozen_until = NULL WHERE id = ANY (ARRAY(SELECT chat_id FROM ready WHERE thaws)))
	SELECT l.n, CASE WHEN h.parked THEN '0' WHEN h.late THEN '1 ms' ELSE greatest('0', h.due - now()) END::interval,
	       l.telegram_chat_id, l.private, coalesce(i.language, l.language), l.tables, l.dark_charts, coalesce(i.size, 0),
	       coalesce(CASE WHEN i.id = i.first THEN (
	           SELECT true FROM outbox o
	           WHERE o.finished_at IS NULL AND ` + rowPosition + ` > (l.chat_id, l.lane, i.last)
	             AND ` + rowLane + ` <= (l.chat_id, l.lane)
	           ORDER BY ` + inOrder + ` LIMIT 1) END, false),
	       coalesce(i.action, ''), coalesce(i.purpose, ''), coalesce(i.thread_id, 0), coalesce(i.object, ''),
	       coalesce(i.edited_message_id, 0),
	       ` + itemColumns + `
	FROM lane l JOIN head h USING (n) LEFT JOIN taken i ON i.n = l.n AND NOT i.unnamed
	ORDER BY l.n, i.id`

// queueTake takes from the beginning of each lane
//   - the message that was taken before, unchanged;
//   - or, if too much waits behind a long run of results, the excess ones, few of which are named;
//   - or as many new notices of the same topic as can be sent together;
//   - or whatever else comes first, alone.
func queueTake(batch *pgx.Batch, chats []int64, kinds []outbox.LaneKind, bounds outbox.Bounds, turns []outbox.Turn) {
	args := []any{chats, kinds, bounds.Merge, bounds.MaxWaiting, ranking.KindMatchRecorded, maxNamed, maxPerLane}
	batch.Queue(takeRows, args...).Query(func(rows pgx.Rows) error {
		var n int
		var wait time.Duration
		var m outbox.Message
		var i outbox.Item
		fields := append([]any{&n, &wait, &m.ExternalChat, &m.Private, &m.Language, &m.Tables, &m.Dark, &m.Count, &m.More, &m.Action, &m.Purpose,
			&m.Thread, &m.Object, &m.Target}, itemFields(&i)...)
		_, err := pgx.ForEachRow(rows, fields, func() error {
			turn := &turns[n-1]
			switch {
			case i.ID == 0:
				turn.Wait = wait
			case turn.Message == nil:
				m.Lane, m.Row, m.Items = turn.Lane, i, []outbox.Item{i}
				message := m
				turn.Message = &message
			default:
				turn.Message.Items = append(turn.Message.Items, i)
			}
			return nil
		})
		return err
	})
}
