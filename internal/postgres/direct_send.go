package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"elobot/internal/outbox"
	"elobot/internal/ranking"
)

// WithSendSlots returns a store that has the notice of a command sent as soon as it is committed, if reserve holds a
// slot for its lane. Such a notice is marked as being sent by the transaction that inserts it, so it need not be
// taken from the queue first.
func (s *Store) WithSendSlots(reserve func(context.Context, outbox.Lane) *outbox.SendSlot) *Store {
	clone := *s
	clone.reserve, clone.batchWriter = reserve, new(batchWriter)
	return &clone
}

// reserveSlot returns the slot for sending the notice of a command directly, nil for none.
func (s *Store) reserveSlot(ctx context.Context, c ranking.Changes) *outbox.SendSlot {
	if s.reserve == nil || c.Notice == nil {
		return nil
	}
	return s.reserve(ctx, outbox.Lane{Chat: outbox.ChatID(c.Chat)})
}

// queueDirectSend marks the notice of a command as being sent if it is the first in its lane and may be sent now. The
// returned message is filled in when the batch has run; if it has no items, nothing was taken.
func queueDirectSend(batch *pgx.Batch, c ranking.Changes) *outbox.Message {
	const sql = `
		UPDATE outbox i SET state = 'sending', attempts = 1, tried_at = clock_timestamp()
		FROM chats c
		WHERE c.id = $1 AND c.parked_at IS NULL AND coalesce(c.frozen_until <= now(), true)
		  AND i.id = (
		      SELECT o.id FROM (VALUES ($1::bigint, false)) AS l (chat_id, toasts) CROSS JOIN outbox o
		      WHERE ` + waits + ` ORDER BY ` + inOrder + ` LIMIT 1)
		  AND i.key = $2 AND i.state = 'planned' AND i.action = 'send' AND i.supersede_key IS NULL
		  AND coalesce(i.not_before <= now(), true) AND coalesce(i.expires_at > now(), true)
		RETURNING c.telegram_chat_id, c.kind = 'private', c.language, i.purpose, coalesce(i.thread_id, 0), ` + itemColumns
	m := &outbox.Message{Lane: outbox.Lane{Chat: outbox.ChatID(c.Chat)}, Action: outbox.Send}
	batch.Queue(sql, c.Chat, c.Key).Query(func(rows pgx.Rows) error {
		fields := append([]any{&m.ExternalChat, &m.Private, &m.Language, &m.Purpose, &m.Thread}, itemFields(&m.Row)...)
		_, err := pgx.ForEachRow(rows, fields, func() error {
			m.Items, m.Count = []outbox.Item{m.Row}, 1
			return nil
		})
		return err
	})
	return m
}
