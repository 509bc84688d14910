package postgres

import (
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/ranking"
)

// queueKeys inserts the keys of commands, with the rate classes of the commands.
func queueKeys(batch *pgx.Batch, all []ranking.Changes) {
	if all[0].Keyless { // it comes alone: only results are written together
		return
	}
	batch.Queue(`
		INSERT INTO handled_commands (key, sender, sent_at, rate_class)
		SELECT key, nullif(sender, 0), sent_at, nullif(rate_class, '')
		FROM unnest($1::text[], $2::bigint[], $3::timestamptz[], $4::text[]) AS c (key, sender, sent_at, rate_class)`,
		column(all, func(c ranking.Changes) string { return c.Key }),
		column(all, func(c ranking.Changes) ranking.SenderID { return c.RateEntry.Sender }),
		column(all, func(c ranking.Changes) *time.Time {
			if c.RateEntry == (ranking.RateEntry{}) {
				return nil
			}
			return &c.RateEntry.At
		}),
		column(all, func(c ranking.Changes) string { return string(c.RateEntry.RateClass) }))
}

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

// notRecordedDelay is how long a notice of results that were not recorded waits for more of them. It delays
// everything after it in its lane, so it is short.
const notRecordedDelay = 3 * time.Second

// queueNotRecorded adds a result that was not recorded to the waiting notice for the same sender and topic, or
// inserts that notice.
func queueNotRecorded(batch *pgx.Batch, now time.Time, c ranking.Changes, n ranking.NotRecorded) error {
	payload, err := encode(n)
	if err != nil {
		return err
	}
	batch.Queue(`
		INSERT INTO outbox AS waiting
		    (chat_id, key, kind, purpose, payload, addressee, reply_to, thread_id, expires_at, supersede_key, not_before)
		VALUES ($1, $2, $3, $4, $5, $6, nullif($7::bigint, 0), nullif($8::bigint, 0), clock_timestamp() + $9::interval, $10, now() + $12::interval)
		ON CONFLICT (chat_id, supersede_key) WHERE supersede_key IS NOT NULL DO UPDATE
		SET expires_at = excluded.expires_at,
		    payload = CASE WHEN jsonb_array_length(waiting.payload -> 'items') < $11
		        THEN jsonb_set(waiting.payload, '{items}', (waiting.payload -> 'items') || (excluded.payload -> 'items'))
		        ELSE jsonb_set(waiting.payload, '{more}',
		            to_jsonb(coalesce((waiting.payload -> 'more')::integer, 0) + 1)) END`,
		c.Chat, c.Key, n.Kind(), n.Purpose(), payload, c.Addressee, c.ReplyTo, c.Thread,
		timeLeft(c.SentAt, now, n.Purpose().Lifetime()), fmt.Sprintf("refused:%d:%d", c.RateEntry.Sender, c.Thread),
		ranking.MaxRejected, notRecordedDelay)
	return nil
}
