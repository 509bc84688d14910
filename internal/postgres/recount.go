package postgres

import (
	"github.com/jackc/pgx/v5"

	"elobot/internal/ranking"
)

// QueueRecount has the tallies of a ladder counted again, from the start.
func QueueRecount(batch *pgx.Batch, ladder ranking.LadderID) {
	batch.Queue(`
		INSERT INTO ladder_tallies (ladder_id, recounting) VALUES ($1, true)
		ON CONFLICT (ladder_id) DO UPDATE SET recounting = true, recount_player = DEFAULT, recount_month = DEFAULT`, ladder)
}
