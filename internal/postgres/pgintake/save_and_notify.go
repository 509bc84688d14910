package pgintake

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"elobot/internal/intake"
	"elobot/internal/notice"
	"elobot/internal/outbox"
	"elobot/internal/postgres"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/ranking"
)

// SaveAndNotify stores an update's dead letter, and queues n for the chat that the update came
// from. If the update already has a letter, n is not queued. So the chat is notified only once,
// even if the update fails for good several times. SaveAndNotify also inserts the chat and, for a
// group chat, the group and its default ladder, if they are missing. It does not mark the command
// as handled. After an error, nothing is stored, unless the answer to the commit was lost.
func (d *DeadLetters) SaveAndNotify(
	ctx context.Context, letter intake.DeadLetter, o ranking.Origin, n ranking.Notice,
) error {
	kind := notice.KindOf(n)
	action, lane, button, lifetime := outbox.Send, outbox.Messages, (*string)(nil), kind.Purpose.Lifetime()
	if o.Button != "" {
		action, lane, button, lifetime = outbox.CallbackAnswer, outbox.CallbackAnswers, &o.Button, ranking.CallbackLifetime
		o.ReplyTo, o.Thread = 0, 0
	}
	addressee := ""
	if o.Sender != nil {
		addressee = o.Sender.Name
	}
	var batch pgx.Batch
	d.Lease.Require(&batch)
	// An existing chat is not changed, because the contents of an update that fails may be wrong.
	batch.Queue(`
		INSERT INTO chats (telegram_chat_id, kind, title, language)
		SELECT $1::bigint, $2, $3, coalesce(nullif($4, ''), $5)
		WHERE NOT EXISTS (SELECT FROM chat_aliases WHERE telegram_chat_id = $1)
		ON CONFLICT (telegram_chat_id) DO NOTHING`,
		o.Chat.ID, o.Chat.Kind, o.Chat.Title, o.Chat.Language, ranking.DefaultLanguage)
	if o.Chat.IsGroup() {
		batch.Queue(`
			INSERT INTO groups (chat_id) SELECT id FROM chats WHERE telegram_chat_id = $1
			ON CONFLICT ON CONSTRAINT groups_chat_id_key DO NOTHING`, o.Chat.ID)
		batch.Queue(`
			WITH l AS (
			    INSERT INTO ladders (group_id, is_default, season_id)
			    SELECT g.id, true, nextval('seasons_id_seq') FROM groups g JOIN chats c ON c.id = g.chat_id
			    WHERE c.telegram_chat_id = $1
			    ON CONFLICT (group_id) WHERE is_default DO NOTHING
			    RETURNING *)`+postgres.FirstSeason, o.Chat.ID)
	}
	var notified []outbox.ChatID
	batch.Queue(`
		WITH letter AS (`+upsertUpdateLetter+`
		    RETURNING xmax = 0 AS new -- inserted, not updated
		), chat AS (
		    SELECT c.id, c.telegram_chat_id = $6 AS same FROM chats c
		    WHERE c.id = coalesce((SELECT id FROM chats WHERE telegram_chat_id = $6),
		                          (SELECT chat_id FROM chat_aliases WHERE telegram_chat_id = $6))
		)
		INSERT INTO outbox (chat_id, key, kind, purpose, payload, addressee, action, callback_query_id, reply_to, thread_id,
		                    expires_at, alone)
		SELECT chat.id, $7, $8, $9, $10, $11, $12, $13, CASE WHEN chat.same THEN nullif($14::bigint, 0) END,
		       CASE WHEN chat.same THEN nullif($15::bigint, 0) END, clock_timestamp() + $16::interval, $17
		FROM letter, chat WHERE letter.new
		RETURNING chat_id`,
		append(updateLetterArgs(letter), o.Chat.ID, o.Key, kind.Name, kind.Purpose, n, postgres.Storable(addressee),
			action, button, o.ReplyTo, o.Thread, pgranking.TimeLeft(o.SentAt, d.Now(), lifetime),
			kind.Alone)...).Query(func(rows pgx.Rows) (err error) {
		notified, err = pgx.CollectRows(rows, pgx.RowTo[outbox.ChatID])
		return err
	})
	if err := d.pool.SendBatch(ctx, &batch).Close(); err != nil {
		return fmt.Errorf("save dead letter and notify: %w", pgranking.Translate(err))
	}
	for _, chat := range notified {
		if d.Committed != nil {
			d.Committed(outbox.Lane{Chat: chat, Kind: lane})
		}
	}
	return nil
}
