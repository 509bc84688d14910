package pgstats

import (
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// queueFreshness reads how current the tallies of a group are. It comes before the tallies in a batch, whose statements have a snapshot
// each: what is counted in between makes them newer than it says, and never older.
func queueFreshness(batch *pgx.Batch, chat ranking.ExternalChatID, f *stats.Freshness) {
	const sql = `
		SELECT coalesce((SELECT recounting FROM ladder_tallies WHERE ladder_id = ` + postgres.ThisLadder + `), false),
		       (SELECT min(created_at) FROM tally_marks WHERE ladder_id = ` + postgres.ThisLadder + `)`
	batch.Queue(sql, chat).QueryRow(func(row pgx.Row) error {
		if err := row.Scan(&f.Recounting, (*zeronull.Timestamptz)(&f.AsOf)); err != nil {
			return fmt.Errorf("scan freshness: %w", err)
		}
		return nil
	})
}
