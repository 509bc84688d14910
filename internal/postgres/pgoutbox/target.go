package pgoutbox

import (
	"github.com/jackc/pgx/v5"

	"elobot/internal/outbox"
)

// queueEdits finds the messages that the rows just taken edit. Of those that show the match, it takes the newest that was sent to the chat
// under its current id, and its language. An edit renders the other items of the message again; if these are not known any more, there is
// nothing to edit. So it is for summaries.
func queueEdits(batch *pgx.Batch, chats []int64, kinds []outbox.LaneKind, turns []outbox.Turn) {
	const sql = `
		SELECT l.n, mm.telegram_message_id, mm.fingerprint, mm.covered, coalesce(mm.language, c.language), coalesce(i.found, 0),
		       ` + itemColumns + `
		FROM unnest($1::bigint[], $2::smallint[]) WITH ORDINALITY AS l (chat_id, lane, n)
		CROSS JOIN LATERAL (SELECT o.* FROM outbox o WHERE ` + waits + ` ORDER BY ` + inOrder + ` LIMIT 1) AS o
		JOIN chats c ON c.id = l.chat_id
		CROSS JOIN LATERAL (
		    SELECT * FROM match_messages WHERE match_id = o.match_id AND telegram_chat_id = c.telegram_chat_id
		    ORDER BY telegram_message_id DESC LIMIT 1) AS mm
		LEFT JOIN outbox first ON first.id = mm.outbox_id AND first.telegram_message_id = mm.telegram_message_id
		LEFT JOIN LATERAL (
		    SELECT first.*, 1 AS found WHERE first.batch IS NULL
		    UNION ALL
		    SELECT i.*, count(*) OVER () FROM outbox i
		    WHERE i.batch = first.batch AND i.telegram_message_id = mm.telegram_message_id) AS i ON true
		WHERE o.action = 'edit' AND o.state = 'sending' AND o.tried_at = now()
		ORDER BY l.n, i.id`
	batch.Queue(sql, chats, kinds).Query(func(rows pgx.Rows) error {
		var n, covered, found int
		var target int64
		var known, language string
		var i outbox.Item
		fields := append([]any{&n, &target, &known, &covered, &language, &found}, itemFields(&i)...)
		_, err := pgx.ForEachRow(rows, fields, func() error {
			m := turns[n-1].Message
			if m == nil || covered > 1 && found != covered {
				return nil
			}
			if m.Target == 0 {
				m.Target, m.KnownFingerprint, m.Language, m.Items = target, known, language, nil
			}
			if i.ID == 0 { // the row that was sent is not kept any more
				i = m.Row
			}
			m.Items = append(m.Items, i)
			return nil
		})
		return err
	})
}
