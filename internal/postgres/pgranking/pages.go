package pgranking

import (
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/ranking"
)

// queuePage replaces the message with a pressed button, if a command does that. The newest press takes the place of one that
// waits for the same message.
func queuePage(batch *pgx.Batch, now time.Time, c ranking.Changes) error {
	if c.Page == nil {
		return nil
	}
	payload, err := encode(c.Page)
	if err != nil {
		return err
	}
	batch.Queue(`
		INSERT INTO outbox (chat_id, key, kind, purpose, payload, addressee, addressee_id, action, edited_message_id, supersede_key,
		                    expires_at, alone)
		VALUES ($1, $2, $3, $4, $5, $6, nullif($10::bigint, 0), 'page', $7, $8, clock_timestamp() + $9::interval, true)
		ON CONFLICT (chat_id, supersede_key) WHERE supersede_key IS NOT NULL DO UPDATE
		SET key = excluded.key, kind = excluded.kind, purpose = excluded.purpose, payload = excluded.payload,
		    addressee = excluded.addressee, addressee_id = excluded.addressee_id, expires_at = excluded.expires_at`,
		c.Chat, c.Key, c.Page.Kind(), c.Page.Purpose(), payload, c.Addressee.Name, c.Edits, fmt.Sprintf("page:%d", c.Edits),
		TimeLeft(c.SentAt, now, c.Page.Purpose().Lifetime()), c.Addressee.Player)
	return nil
}
