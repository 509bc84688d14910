package pgranking

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"elobot/internal/notice"
	"elobot/internal/outbox"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// Move implements ranking.Store.
func (s *Store) Move(
	ctx context.Context, from, to ranking.ExternalChatID,
) (detached *ranking.DetachedGroup, err error) {
	var changed ranking.ChatID
	err = postgres.Transact(ctx, s.pool, s.lease, func(tx pgx.Tx) error {
		inside := s.inside(tx)
		older, newer, err := inside.lockForMove(ctx, from, to)
		if err != nil {
			return err
		}
		switch older {
		case newer: // already moved, or both ids are unknown
			return inside.EnsureDurable(ctx)
		case chatRow{}:
			return inside.addAlias(ctx, from, newer)
		}
		if newer != (chatRow{}) {
			changed, detached, err = inside.mergeChats(ctx, older, newer)
			return err
		}
		changed = older.ID
		return inside.rename(ctx, older, to)
	})
	if err != nil {
		return nil, Translate(err)
	}
	if changed != 0 {
		s.wake(changed, outbox.Messages)
	}
	return detached, nil
}

// chatRow identifies a chat. Its zero value stands for no chat.
type chatRow struct {
	ID       ranking.ChatID
	External ranking.ExternalChatID // Telegram's current id of the chat
}

// lockForMove returns the chats with these ids. If they differ, it locks their groups, their
// ladders, their unfinished notices, the chats, and their boards, in this order. The dispatcher
// locks notices before chats too. If a chat has been moved in the meantime, lockForMove fails with
// ranking.ErrConflict. Until the transaction ends, no other transaction can record a match, add a
// player or queue a notice in these chats.
func (s *Store) lockForMove(ctx context.Context, from, to ranking.ExternalChatID) (older, newer chatRow, err error) {
	older, newer, err = s.findForMove(ctx, from, to)
	if err != nil || older == newer {
		return older, newer, err
	}
	for _, lock := range []string{
		`SELECT FROM groups WHERE chat_id = ANY ($1) ORDER BY id FOR NO KEY UPDATE`,
		`SELECT FROM ladders WHERE group_id IN (SELECT id FROM groups WHERE chat_id = ANY ($1)) ORDER BY id FOR UPDATE`,
		`SELECT FROM outbox WHERE chat_id = ANY ($1) AND finished_at IS NULL ORDER BY id FOR NO KEY UPDATE`,
		`SELECT FROM chats WHERE id = ANY ($1) ORDER BY id FOR UPDATE`,
		`SELECT FROM boards WHERE chat_id = ANY ($1) ORDER BY ladder_id FOR UPDATE`,
	} {
		if _, err := s.db.Exec(ctx, lock, []ranking.ChatID{older.ID, newer.ID}); err != nil {
			return older, newer, fmt.Errorf("lock the chats and their rows: %w", err)
		}
	}
	olderNow, newerNow, err := s.findForMove(ctx, from, to)
	if err == nil && (older != olderNow || newer != newerNow) {
		err = fmt.Errorf("%w: somebody else has moved chat %d or %d", ranking.ErrConflict, from, to)
	}
	return older, newer, err
}

func (s *Store) findForMove(ctx context.Context, from, to ranking.ExternalChatID) (older, newer chatRow, err error) {
	const chat = `SELECT coalesce(max(id), 0), coalesce(max(telegram_chat_id), 0)
		FROM chats WHERE id = ` + postgres.ThisChat
	var batch pgx.Batch
	batch.Queue(chat, from).QueryRow(func(row pgx.Row) error { return row.Scan(&older.ID, &older.External) })
	batch.Queue(chat, to).QueryRow(func(row pgx.Row) error { return row.Scan(&newer.ID, &newer.External) })
	if err := s.db.SendBatch(ctx, &batch).Close(); err != nil {
		return older, newer, fmt.Errorf("find the chats: %w", err)
	}
	return older, newer, nil
}

// addAlias records an unknown id as a former id of a chat.
func (s *Store) addAlias(ctx context.Context, earlier ranking.ExternalChatID, chat chatRow) error {
	var batch pgx.Batch
	// Give the chat the former id for a moment. A transaction that inserts a chat with that id then
	// waits, and finds the alias.
	for _, id := range []ranking.ExternalChatID{earlier, chat.External} {
		batch.Queue(`UPDATE chats SET telegram_chat_id = $2 WHERE id = $1`, chat.ID, id)
	}
	queueAlias(&batch, earlier, chat.ID)
	return s.db.SendBatch(ctx, &batch).Close()
}

func queueAlias(batch *pgx.Batch, earlier ranking.ExternalChatID, chat ranking.ChatID) {
	batch.Queue(`INSERT INTO chat_aliases (telegram_chat_id, chat_id) VALUES ($1, $2)`, earlier, chat)
}

// rename gives a chat a new id that no chat has, and keeps the old id as an alias. The chat becomes
// an active supergroup that is neither parked nor frozen.
func (s *Store) rename(ctx context.Context, chat chatRow, to ranking.ExternalChatID) error {
	var batch pgx.Batch
	queueForgetMessages(&batch, chat.ID)
	batch.Queue(`
		UPDATE chats
		SET telegram_chat_id = $2, kind = 'supergroup', frozen_until = NULL, is_active = true, `+postgres.Unparked+`
		WHERE id = $1`, chat.ID, to)
	queueAlias(&batch, chat.External, chat.ID)
	return s.db.SendBatch(ctx, &batch).Close()
}

// queueForgetMessages removes references to messages and topics from the chat's unfinished notices,
// boards and prompts, and deletes the chat's topics and ensured messages: under another chat id,
// the same ids mean other messages and topics. Page notices expire, except that a planned one with
// the purpose Outcome becomes a new message. match_messages needs no change, because its rows
// include the chat id under which the message was sent.
func queueForgetMessages(batch *pgx.Batch, chat ranking.ChatID) {
	batch.Queue(`
		UPDATE outbox SET reply_to = NULL, thread_id = NULL
		WHERE chat_id = $1 AND finished_at IS NULL AND (reply_to IS NOT NULL OR thread_id IS NOT NULL)`, chat)
	batch.Queue(`
		UPDATE outbox SET action = 'send', edited_message_id = NULL, supersede_key = NULL
		WHERE chat_id = $1 AND finished_at IS NULL AND action = 'page' AND purpose = $2 AND state = 'planned'`,
		chat, notice.Outcome)
	batch.Queue(`
		UPDATE outbox
		SET state = 'expired', finished_at = now(), last_error = 'the chat has a new id', supersede_key = NULL
		WHERE chat_id = $1 AND finished_at IS NULL AND action = 'page'`, chat)
	batch.Queue(`DELETE FROM ensured_messages WHERE chat_id = $1`, chat)
	batch.Queue(`UPDATE boards SET thread_id = NULL, pin = 'wanted' WHERE chat_id = $1`, chat)
	batch.Queue(`DELETE FROM topics WHERE chat_id = $1`, chat)
	batch.Queue(`
		UPDATE prompts SET telegram_message_id = NULL WHERE chat_id = $1 AND telegram_message_id IS NOT NULL`, chat)
}
