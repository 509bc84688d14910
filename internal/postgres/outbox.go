package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/outbox"
)

// Outbox is the store of the notices on their way. It implements outbox.Store.
type Outbox struct {
	pool *pgxpool.Pool
}

var _ outbox.Store = (*Outbox)(nil)

// NewOutbox returns the outbox in the database of the pool.
func NewOutbox(pool *pgxpool.Pool) *Outbox { return &Outbox{pool: pool} }

// Waiting implements outbox.Store. It goes from chat to chat over the index, so that its cost is that of the chats that
// wait and not that of their rows.
func (o *Outbox) Waiting(ctx context.Context) ([]outbox.ChatID, error) {
	const sql = `
		WITH RECURSIVE waiting AS (
		    (SELECT chat_id FROM outbox WHERE state IN ('planned', 'sending') ORDER BY chat_id LIMIT 1)
		    UNION ALL
		    SELECT (SELECT o.chat_id FROM outbox o
		            WHERE o.state IN ('planned', 'sending') AND o.chat_id > waiting.chat_id
		            ORDER BY o.chat_id LIMIT 1)
		    FROM waiting WHERE waiting.chat_id IS NOT NULL
		)
		SELECT c.id FROM waiting JOIN chats c ON c.id = waiting.chat_id
		WHERE c.parked_at IS NULL AND (c.frozen_until IS NULL OR c.frozen_until <= now())`
	rows, err := o.pool.Query(ctx, sql)
	if err != nil {
		return nil, fmt.Errorf("find waiting chats: %w", err)
	}
	chats, err := pgx.CollectRows(rows, pgx.RowTo[outbox.ChatID])
	if err != nil {
		return nil, fmt.Errorf("find waiting chats: %w", err)
	}
	return chats, nil
}

// Take implements outbox.Store. What has come too late ends quietly.
func (o *Outbox) Take(ctx context.Context, chat outbox.ChatID) (*outbox.Item, error) {
	const sql = `
		WITH expired AS ( -- a few at a time: the others are passed over, and their turn comes
		    UPDATE outbox o SET state = 'expired', finished_at = now(), last_error = coalesce(o.last_error, 'too late')
		    WHERE o.id IN (
		        SELECT w.id FROM outbox w WHERE w.chat_id = $1 AND w.state IN ('planned', 'sending') ORDER BY w.id LIMIT 100)
		      AND o.expires_at <= now()
		), head AS (
		    SELECT o.id, o.state, c.telegram_chat_id, c.kind = 'private' AS private, c.language,
		           CASE WHEN o.action = 'edit' THEN (
		               SELECT max(mm.telegram_message_id) FROM match_messages mm
		               WHERE mm.match_id = o.match_id AND mm.telegram_chat_id = c.telegram_chat_id) END AS edits
		    FROM outbox o JOIN chats c ON c.id = o.chat_id
		    WHERE o.chat_id = $1 AND o.state IN ('planned', 'sending') AND (o.expires_at IS NULL OR o.expires_at > now())
		      AND c.parked_at IS NULL AND (c.frozen_until IS NULL OR c.frozen_until <= now())
		    ORDER BY o.id LIMIT 1
		)
		UPDATE outbox o
		SET state = 'sending', attempts = o.attempts + 1, perhaps_sent = o.perhaps_sent + (head.state = 'sending')::int
		FROM head WHERE o.id = head.id
		RETURNING o.id, o.chat_id, o.action, coalesce(head.edits, 0), coalesce(o.callback_query_id, ''),
		          head.telegram_chat_id, head.private, head.language, o.kind, o.payload,
		          coalesce(o.reply_to, 0), coalesce(o.thread_id, 0), o.attempts, o.perhaps_sent`
	rows, err := o.pool.Query(ctx, sql, chat)
	if err != nil {
		return nil, fmt.Errorf("take notice: %w", err)
	}
	items, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*outbox.Item, error) {
		var i outbox.Item
		err := row.Scan(&i.ID, &i.Chat, &i.Action, &i.Edits, &i.Button, &i.To, &i.Private, &i.Language,
			&i.Kind, &i.Payload, &i.ReplyTo, &i.Thread, &i.Attempts, &i.PerhapsSent)
		return &i, err
	})
	if err != nil {
		return nil, fmt.Errorf("take notice: %w", err)
	}
	if len(items) == 0 {
		return nil, nil //nolint:nilnil // no item is an ordinary answer here, and the interface says so
	}
	return items[0], nil
}

// Finish implements outbox.Store. It may be repeated.
func (o *Outbox) Finish(ctx context.Context, r outbox.Result) error {
	var batch pgx.Batch
	if r.Failure == nil {
		batch.Queue(`
			WITH sent AS (
			    UPDATE outbox SET state = 'sent', telegram_message_id = $2, finished_at = now()
			    WHERE id = $1 AND state = 'sending' RETURNING match_id, action)
			INSERT INTO match_messages (telegram_chat_id, telegram_message_id, match_id)
			SELECT $3, $2, match_id FROM sent WHERE match_id IS NOT NULL AND action = 'send' AND $2 > 0
			ON CONFLICT ON CONSTRAINT match_messages_pkey DO NOTHING`, r.Item.ID, r.MessageID, r.Item.To)
	} else {
		queueFailure(&batch, r)
	}
	if err := o.pool.SendBatch(ctx, &batch).Close(); err != nil {
		return fmt.Errorf("finish notice %d: %w", r.Item.ID, err)
	}
	return nil
}

func queueFailure(batch *pgx.Batch, r outbox.Result) {
	reason := storable(r.Failure.Err.Error())
	switch r.Failure.Class {
	case outbox.Rejected:
		batch.Queue(`
			WITH dead AS (
			    UPDATE outbox SET state = 'dead', last_error = $2, finished_at = now()
			    WHERE id = $1 AND state = 'sending' RETURNING id, payload, attempts, created_at)
			INSERT INTO dead_letters (kind, outbox_id, payload, last_error, attempts, first_seen_at)
			SELECT 'notice', id, convert_to(payload::text, 'UTF8'), $2, attempts, created_at FROM dead`,
			r.Item.ID, reason)
		return
	case outbox.Pointless:
		batch.Queue(`
			UPDATE outbox SET state = 'expired', last_error = $2, finished_at = now()
			WHERE id = $1 AND state = 'sending'`, r.Item.ID, reason)
		return
	case outbox.Ambiguous:
		batch.Queue(`UPDATE outbox SET last_error = $2 WHERE id = $1 AND state = 'sending'`, r.Item.ID, reason)
		return
	case outbox.RateLimited:
		batch.Queue(`
			UPDATE chats SET frozen_until = greatest(frozen_until, now() + make_interval(secs => $2)) WHERE id = $1`,
			r.Item.Chat, r.Pause.Seconds())
	case outbox.Gone:
		// a notice that was written while this one was on its way means that the chat has been heard of since
		batch.Queue(`
			UPDATE chats SET parked_at = now() WHERE id = $1 AND NOT EXISTS (
			    SELECT FROM outbox o WHERE o.chat_id = $1 AND o.state = 'planned' AND o.id > $2
			      AND o.created_at > now() - interval '10 seconds')`, r.Item.Chat, r.Item.ID)
	}
	batch.Queue(`
		UPDATE outbox SET state = 'planned', last_error = $2 WHERE id = $1 AND state = 'sending'`, r.Item.ID, reason)
}
