package pgoutbox

import (
	"github.com/jackc/pgx/v5"

	"elobot/internal/outbox"
)

// QueueDirectSend marks the notice with a key as being sent if it is the first in the lane of its chat and may be sent
// now. The returned message is filled in when the batch has run; if it has no items, nothing was taken.
func QueueDirectSend(batch *pgx.Batch, chat outbox.ChatID, key string) *outbox.Message {
	const sql = `
		UPDATE outbox i SET state = 'sending', attempts = 1, tried_at = clock_timestamp()
		FROM chats c
		WHERE c.id = $1 AND c.parked_at IS NULL AND coalesce(c.frozen_until <= now(), true)
		  AND i.id = (
		      SELECT o.id FROM (VALUES ($1::bigint, 0::smallint)) AS l (chat_id, lane) CROSS JOIN outbox o
		      WHERE ` + waits + ` ORDER BY ` + inOrder + ` LIMIT 1)
		  AND i.key = $2 AND i.state = 'planned' AND i.action = 'send' AND i.supersede_key IS NULL
		  AND coalesce(i.not_before <= now(), true) AND coalesce(i.expires_at > now(), true)
		RETURNING c.telegram_chat_id, c.kind = 'private', coalesce(i.language, c.language), c.tables, c.dark_charts, i.purpose, coalesce(i.thread_id, 0), ` + itemColumns
	m := &outbox.Message{Lane: outbox.Lane{Chat: chat}, Action: outbox.Send}
	batch.Queue(sql, chat, key).Query(func(rows pgx.Rows) error {
		fields := append([]any{&m.ExternalChat, &m.Private, &m.Language, &m.Tables, &m.Dark, &m.Purpose, &m.Thread}, itemFields(&m.Row)...)
		_, err := pgx.ForEachRow(rows, fields, func() error {
			m.Items, m.Count = []outbox.Item{m.Row}, 1
			return nil
		})
		return err
	})
	return m
}
