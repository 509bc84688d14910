package pgranking

import (
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"elobot/internal/ranking"
)

// queuePresence records what a command shows about the bot's membership in its chat.
func queuePresence(batch *pgx.Batch, c ranking.Changes) {
	switch c.Presence {
	case ranking.ChatSeen:
		queueSeen(batch, []ranking.ChatID{c.Chat})
	case ranking.BotActive:
		batch.Queue(`
			UPDATE chats SET is_active = true, parked_at = NULL WHERE id = $1`, c.Chat)
		batch.Queue(`UPDATE boards SET pin = 'wanted' WHERE chat_id = $1 AND pin = 'refused'`, c.Chat) // its rights may have changed
	case ranking.BotInactive: // the bot greets again when it is back, however soon that is
		batch.Queue(`
			UPDATE chats
			SET is_active = false, parked_at = coalesce(parked_at, now()), greeted_at = NULL, added_at = NULL
			WHERE id = $1`, c.Chat)
	}
}

// queueSeen records that chats have sent something. The bot may be able to write there again; it tries once a minute at most.
func queueSeen(batch *pgx.Batch, chats []ranking.ChatID) {
	batch.Queue(`
		UPDATE chats SET is_active = true, parked_at = NULL,
		    frozen_until = CASE WHEN parked_at > now() - interval '1 minute'
		        THEN greatest(frozen_until, least(parked_at, now()) + interval '1 minute') ELSE frozen_until END
		WHERE id = ANY ($1) AND (parked_at IS NOT NULL OR NOT is_active)`, chats)
}

// queueGreeted records a greeting, provided that the last one is still the one that was read.
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
