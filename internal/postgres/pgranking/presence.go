package pgranking

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"elobot/internal/ladder"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// queuePresence records what a command reveals about the bot's membership in the chat.
func queuePresence(batch *pgx.Batch, c ranking.Changes) {
	switch c.Presence {
	case ranking.ChatSeen:
		queueSeen(batch, []ranking.ChatID{c.Chat})
	case ranking.BotActive:
		batch.Queue(`UPDATE chats SET is_active = true, `+postgres.Unparked+` WHERE id = $1`, c.Chat)
		// The bot may have been given the right to pin.
		batch.Queue(`UPDATE boards SET pin = 'wanted' WHERE chat_id = $1 AND pin = 'refused'`, c.Chat)
	case ranking.BotInactive:
		// Without greeted_at, the bot greets the chat as soon as it is back.
		batch.Queue(`
			UPDATE chats
			SET is_active = false, parked_at = coalesce(parked_at, now()), greeted_at = NULL, added_at = NULL
			WHERE id = $1`, c.Chat)
	}
}

// PrivateChat implements ranking.Store.
func (s *Store) PrivateChat(ctx context.Context, user ladder.UserID) (chat ranking.ChatID, err error) {
	const sql = `SELECT id FROM chats WHERE telegram_chat_id = $1 AND is_active AND parked_at IS NULL`
	err = s.db.QueryRow(ctx, sql, user).Scan(&chat)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return 0, fmt.Errorf("find a private chat: %w", Translate(err))
	}
	return chat, nil
}

// queueSeen records that chats have sent something, so the bot is in them. A chat that was marked
// as left is no longer parked. For any other parked chat, parked_until becomes at most FirstParking
// after parked_at.
func queueSeen(batch *pgx.Batch, chats []ranking.ChatID) {
	batch.Queue(`
		UPDATE chats
		SET is_active = true, parked_at = CASE WHEN is_active THEN parked_at END,
		    parked_until = CASE WHEN is_active THEN parked_at + `+postgres.FirstParking+` END,
		    parkings = CASE WHEN is_active THEN parkings ELSE 0 END
		WHERE id = ANY ($1) AND (NOT is_active OR parked_until > parked_at + `+postgres.FirstParking+`)`, chats)
}

// queueGreeted records a greeting and, if known, the time at which the bot was added and the chat's
// language. A chosen language stays. The batch fails if another greeting has been recorded since
// the read.
func queueGreeted(batch *pgx.Batch, chat ranking.ChatID, g *ranking.Greeted) {
	batch.Queue(`
		WITH greeted AS (
		    UPDATE chats SET greeted_at = $3, added_at = coalesce($4, added_at),
		        language = CASE WHEN language_chosen OR $5 = '' THEN language ELSE $5 END
		    WHERE id = $1 AND greeted_at IS NOT DISTINCT FROM $2::timestamptz
		    RETURNING 1)
		SELECT EXISTS (SELECT FROM greeted)::unchanged`,
		chat, zeronull.Timestamptz(g.Before), zeronull.Timestamptz(g.At), zeronull.Timestamptz(g.Added), g.Language)
}
