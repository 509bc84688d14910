package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"elobot/internal/intake"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
)

// Waking returns the same dead letters, which call committed with the lane in which somebody is to be told of one. That
// function must not block.
func (d *DeadLetters) WithWake(committed func(outbox.Lane)) *DeadLetters {
	wake := *d
	wake.committed = committed
	return &wake
}

// KeepAndTell keeps the letter of an update, and tells the notice where the update came from, both or nothing. An update
// that dies again is not told of again. The chat is known afterwards; the command is not handled by that.
func (d *DeadLetters) SaveAndNotify(ctx context.Context, letter intake.DeadLetter, o ranking.Origin, n ranking.Notice) error {
	payload, err := encode(n)
	if err != nil {
		return err
	}
	action, button, lifetime := outbox.Send, (*string)(nil), n.Purpose().Lifetime()
	if o.Button != "" {
		action, button, lifetime = outbox.CallbackAnswer, &o.Button, ranking.CallbackLifetime
		o.ReplyTo, o.Thread = 0, 0
	}
	addressee := ""
	if o.Sender != nil {
		addressee = o.Sender.Name
	}
	var batch pgx.Batch
	d.lease.require(&batch)
	// what such an update says of a chat that is known may be as wrong as the rest of it
	batch.Queue(`
		INSERT INTO chats (telegram_chat_id, kind, title, language)
		SELECT $1::bigint, $2, $3, coalesce(nullif($4, ''), $5) WHERE NOT EXISTS (SELECT FROM chat_aliases WHERE telegram_chat_id = $1)
		ON CONFLICT (telegram_chat_id) DO NOTHING`, o.Chat.ID, o.Chat.Kind, o.Chat.Title, o.Chat.Language, ranking.DefaultLanguage)
	queueGroup(&batch, o.Chat)
	var told []outbox.ChatID
	batch.Queue(`
		WITH letter AS (`+keepUpdate+`
		    RETURNING xmax = 0 AS new -- no row was there that had to be locked
		), chat AS (
		    SELECT c.id, c.telegram_chat_id = $6 AS same FROM chats c
		    WHERE c.id = coalesce((SELECT id FROM chats WHERE telegram_chat_id = $6),
		                          (SELECT chat_id FROM chat_aliases WHERE telegram_chat_id = $6))
		)
		INSERT INTO outbox (chat_id, key, kind, purpose, payload, addressee, action, callback_query_id, reply_to, thread_id,
		                    expires_at)
		SELECT chat.id, $7, $8, $9, $10, $11, $12, $13, CASE WHEN chat.same THEN nullif($14::bigint, 0) END,
		       CASE WHEN chat.same THEN nullif($15::bigint, 0) END, clock_timestamp() + $16::interval
		FROM letter, chat WHERE letter.new
		RETURNING chat_id`,
		append(keeping(letter), o.Chat.ID, o.Key, n.Kind(), n.Purpose(), payload, storable(addressee), action, button,
			o.ReplyTo, o.Thread, timeLeft(o.SentAt, d.now(), lifetime))...).Query(func(rows pgx.Rows) (err error) {
		told, err = pgx.CollectRows(rows, pgx.RowTo[outbox.ChatID])
		return err
	})
	if err := d.pool.SendBatch(ctx, &batch).Close(); err != nil {
		return fmt.Errorf("keep dead letter and tell of it: %w", translate(err))
	}
	for _, chat := range told {
		if d.committed != nil {
			d.committed(outbox.Lane{Chat: chat, CallbackAnswers: o.Button != ""})
		}
	}
	return nil
}
