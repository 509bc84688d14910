package pgoutbox

import (
	"github.com/jackc/pgx/v5"

	"elobot/internal/outbox"
)

// queueEdits finds the message to edit for each edit that was just taken. It chooses the newest
// message in the chat that shows the match, among those that were sent to the chat's current id.
// The edit keeps that message's language and renders all its items again. The edit gets no target
// if there is no such message, if the message is a summary, or if it has several items of which
// some are no longer stored.
func queueEdits(batch *pgx.Batch, chats []int64, kinds []outbox.LaneKind, turns []outbox.Turn) {
	const sql = `
		SELECT l.n, mm.telegram_message_id AS target, mm.fingerprint AS known, mm.covered,
		       coalesce(mm.language, c.language) AS language, coalesce(i.found, 0) AS found,
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
	type editedRow struct {
		N      int // number of the turn, from 1
		Target int64
		Known  string // the fingerprint of the message's current content
		// Covered is how many items the message has, and Found is how many of them are still
		// stored.
		Covered, Found int
		Language       string
		outbox.Item
	}
	batch.Queue(sql, chats, kinds).Query(func(rows pgx.Rows) error {
		edited, err := pgx.CollectRows(rows, pgx.RowToStructByName[editedRow])
		for _, r := range edited {
			m := turns[r.N-1].Message
			if m == nil || r.Covered > 1 && r.Found != r.Covered {
				continue
			}
			if m.Target == 0 {
				m.Target, m.KnownFingerprint, m.Language, m.Items = r.Target, r.Known, r.Language, nil
			}
			if r.ID == 0 { // the row that sent the message has been purged
				r.Item = m.Row
			}
			m.Items = append(m.Items, r.Item)
		}
		return err
	})
}
