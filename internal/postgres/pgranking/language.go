package pgranking

import (
	"github.com/jackc/pgx/v5"

	"elobot/internal/ranking"
)

// queueLanguage sets the language of a chat, provided that it is still the one that was read.
func queueLanguage(batch *pgx.Batch, e ranking.Effect) {
	c, ok := e.(*ranking.ChangedLanguage)
	if !ok {
		return
	}
	batch.Queue(`
		WITH changed AS (
		    UPDATE chats SET language = $3, language_chosen = true WHERE id = $1 AND language = $2
		    RETURNING 1)
		SELECT EXISTS (SELECT FROM changed)::unchanged`, c.Chat, c.Before, c.After)
}
