package pgranking

import (
	"github.com/jackc/pgx/v5"

	"elobot/internal/ranking"
)

// queueRecentUsage counts what a sender has sent recently.
func queueRecentUsage(batch *pgx.Batch, c ranking.RateEntry, usage *ranking.RecentUsage) {
	batch.Queue(`
		SELECT count(*) FILTER (WHERE rate_class = 'question' AND sent_at <= $2),
		       count(*) FILTER (WHERE rate_class = 'result' AND sent_at <= $2),
		       count(*) FILTER (WHERE rate_class = 'press' AND sent_at <= $2),
		       count(*) FILTER (WHERE rate_class = 'slowed')
		FROM handled_commands
		WHERE sender = $1 AND sent_at > $2::timestamptz - $3::interval AND sent_at < $2::timestamptz + $3::interval`,
		c.Sender, c.At, ranking.RateWindow).QueryRow(func(row pgx.Row) error {
		return row.Scan(&usage.Questions, &usage.Results, &usage.Presses, &usage.Slowed)
	})
}
