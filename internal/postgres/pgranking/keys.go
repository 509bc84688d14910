package pgranking

import (
	"cmp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/ranking"
)

// handledKey is a row to be inserted into handled_commands. Its JSON names are the column names.
type handledKey struct {
	Key     string                 `json:"key"`
	Sender  ranking.SenderID       `json:"sender,omitzero"`
	SentAt  time.Time              `json:"sent_at,omitzero"`
	Bucket  ranking.RateBucket     `json:"rate_class,omitzero"`
	Trigger ranking.Trigger        `json:"trigger"`
	Outcome ranking.CommandOutcome `json:"outcome"`
}

// keysOf returns the keys that a command stores. Each further match of a message has a key of its
// own, so that it counts toward the rate limit like a separate message.
func keysOf(c ranking.Changes) (keys []handledKey) {
	if c.Keyless {
		return nil
	}
	trigger, outcome := cmp.Or(c.Trigger, ranking.ByMessage), cmp.Or(c.Outcome, ranking.OutcomeUnanswered)
	keys = append(keys, handledKey{c.Key, c.RateEntry.Sender, c.RateEntry.At, c.RateEntry.Bucket, trigger, outcome})
	if matches := newMatches(c); len(matches) > 1 {
		rate := cmp.Or(c.Extra, c.RateEntry)
		for _, m := range matches[1:] {
			keys = append(keys, handledKey{m.Key, rate.Sender, rate.At, rate.Bucket, trigger, outcome})
		}
	}
	return keys
}

// queueKeys inserts the keys of commands, with their rate-limit buckets.
func queueKeys(batch *pgx.Batch, keys []handledKey) {
	if len(keys) == 0 {
		return
	}
	batch.Queue(`
		INSERT INTO handled_commands (key, sender, sent_at, rate_class, trigger, outcome)
		SELECT c.key, c.sender, c.sent_at, c.rate_class, c.trigger, c.outcome
		FROM unnest($1::jsonb[]) AS one CROSS JOIN LATERAL jsonb_populate_record(NULL::handled_commands, one) AS c`, keys)
}

// queueMessage stores the outcome of an edit or a pressed button under the key of the message that
// was edited, or that reported the matches. The batch of an edit fails if the message has been
// handled with an outcome other than a refusal or a prompt. An answer to a prompt needs no such
// check, because it closes the prompt in the same transaction.
func queueMessage(batch *pgx.Batch, c ranking.Changes) {
	if c.Closes != nil && c.Closes.Settles != "" {
		// A message that has recorded other matches keeps its outcome.
		batch.Queue(`UPDATE handled_commands SET trigger = $2, outcome = $3 WHERE key = $1 AND outcome = 'asked'`,
			c.Closes.Settles, c.Trigger, c.Outcome)
	}
	message := messageOf(c)
	// An edit that adds matches to a message stores them under new keys.
	adds := c.Trigger == ranking.ByEdit && c.Message == ""
	if c.Keyless || message == "" || message == c.Key || adds {
		return
	}
	batch.Queue(`
		WITH stored AS (
		    INSERT INTO handled_commands AS c (key, trigger, outcome) VALUES ($1, $2, $3)
		    ON CONFLICT ON CONSTRAINT handled_commands_pkey DO UPDATE
		    SET trigger = excluded.trigger, outcome = excluded.outcome
		    WHERE c.outcome IN ('refused', 'asked') OR excluded.trigger <> 'edit'
		    RETURNING 1)
		SELECT EXISTS (SELECT FROM stored)::unchanged`,
		message, cmp.Or(c.Trigger, ranking.ByMessage), c.Outcome)
}

// messageOf returns the key of the message that reported the matches of c, or else c.Message.
func messageOf(c ranking.Changes) string {
	if matches := newMatches(c); len(matches) > 0 {
		message, _, _ := strings.Cut(matches[0].Key, ranking.ExtraMatch)
		return message
	}
	return c.Message
}
