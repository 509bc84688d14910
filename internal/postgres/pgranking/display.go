package pgranking

import (
	"github.com/jackc/pgx/v5"

	"elobot/internal/ranking"
)

// queueDisplay sets how the bot shows things in a chat, provided that it is still what was read.
func queueDisplay(batch *pgx.Batch, c *ranking.ChangedDisplay) {
	batch.Queue(`
		WITH changed AS (
		    UPDATE chats SET language = $3, language_chosen = language_chosen OR language <> $3, tables = $5,
		        celebrations = $7, dark_charts = $9
		    WHERE id = $1 AND language = $2 AND tables = $4 AND celebrations = $6 AND dark_charts = $8
		    RETURNING 1)
		SELECT EXISTS (SELECT FROM changed)::unchanged`,
		c.Chat, c.Before.Language, c.After.Language, c.Before.Tables, c.After.Tables,
		!c.Before.NoCelebrations, !c.After.NoCelebrations, c.Before.DarkCharts, c.After.DarkCharts)
}
