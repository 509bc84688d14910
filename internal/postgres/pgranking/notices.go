package pgranking

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/notice"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// notRecordedDelay is how long a notice of results that were not recorded waits for more of them.
// The delay is short, because it holds up all later notices of the lane.
const notRecordedDelay = 3 * time.Second

// queueNotRecorded adds the results of a command that were not recorded to the waiting notice for
// the same sender and topic, or inserts that notice. Once the notice lists ranking.MaxRejected
// results or more, it only counts further commands.
func queueNotRecorded(batch *pgx.Batch, now time.Time, c ranking.Changes, n ranking.NotRecorded) {
	kind := notice.KindOf(n)
	batch.Queue(`
		INSERT INTO outbox AS waiting
		    (chat_id, key, kind, purpose, payload, addressee, reply_to, thread_id, expires_at,
		     supersede_key, not_before, addressee_id, alone)
		VALUES ($1, $2, $3, $4, $5, $6, nullif($7::bigint, 0), nullif($8::bigint, 0), clock_timestamp() + $9::interval, $10,
		        now() + $12::interval, nullif($13::bigint, 0), $14)
		ON CONFLICT (chat_id, supersede_key) WHERE supersede_key IS NOT NULL DO UPDATE
		SET expires_at = excluded.expires_at,
		    payload = CASE WHEN jsonb_array_length(waiting.payload -> 'items') < $11
		        THEN jsonb_set(waiting.payload, '{items}', (waiting.payload -> 'items') || (excluded.payload -> 'items'))
		        ELSE jsonb_set(waiting.payload, '{more}',
		            to_jsonb(coalesce((waiting.payload -> 'more')::integer, 0) + 1)) END`,
		c.Chat, c.Key, kind.Name, kind.Purpose, labeled{n, c.Ladder}, c.Addressee.Name, c.ReplyTo, c.Thread,
		TimeLeft(c.SentAt, now, kind.Purpose.Lifetime()), fmt.Sprintf("refused:%d:%d", c.RateEntry.Sender, c.Thread),
		ranking.MaxRejected, notRecordedDelay, c.Addressee.Player, kind.Alone)
}

// TimeLeft returns the remaining part of a lifetime that began at sentAt. It is negative if the
// lifetime is over. If sentAt is zero, there is no limit, and TimeLeft returns nil. A sentAt in the
// future counts as now. Both times are by the messenger's clock. The caller adds the result to the
// database's clock, which may differ.
func TimeLeft(sentAt, now time.Time, lifetime time.Duration) *time.Duration {
	if sentAt.IsZero() {
		return nil
	}
	left := lifetime - max(0, now.Sub(sentAt))
	return &left
}

// queueNotices queues the callback answer, the page and the notice of a command. Their lifetimes
// begin at c.SentAt; now must be by the same clock.
func queueNotices(batch *pgx.Batch, now time.Time, c ranking.Changes) {
	if c.Button != "" {
		kind := notice.KindOf(c.CallbackAnswer)
		batch.Queue(`
			INSERT INTO outbox (chat_id, key, kind, purpose, payload, action, callback_query_id, expires_at, language)
			VALUES ($1, $2, $3, $4, $5, 'callback_answer', $6, clock_timestamp() + $7::interval, nullif($8, ''))`,
			c.Chat, c.Key, kind.Name, kind.Purpose, labeled{c.CallbackAnswer, c.Ladder}, c.Button,
			TimeLeft(c.SentAt, now, ranking.CallbackLifetime), c.Language)
	}
	if c.Page != nil {
		queuePage(batch, now, c)
	}
	if p := c.ToSender; p != nil {
		kind := notice.KindOf(p.Notice)
		batch.Queue(insertNotice, p.Chat, c.Key, kind.Name, kind.Purpose, p.Notice, "", 0, 0,
			TimeLeft(c.SentAt, now, kind.Purpose.Lifetime()), 0, kind.Alone, c.Language)
	}
	if n, ok := c.Notice.(ranking.NotRecorded); ok {
		queueNotRecorded(batch, now, c, n)
	} else if c.Notice != nil {
		queueNotice(batch, now, c)
	}
}

// insertNotice inserts a notice that is sent as a new message.
const insertNotice = `
	INSERT INTO outbox
	    (chat_id, key, kind, purpose, payload, addressee, reply_to, thread_id, expires_at, addressee_id, alone, language)
	VALUES ($1, $2, $3, $4, $5, $6, nullif($7::bigint, 0), nullif($8::bigint, 0), clock_timestamp() + $9::interval,
	        nullif($10::bigint, 0), $11, nullif($12, ''))`

// queueNotice inserts c.Notice, together with the prompt c.Asks if that is new.
func queueNotice(batch *pgx.Batch, now time.Time, c ranking.Changes) {
	language := ""
	if c.Private {
		language = c.Language
	}
	kind := notice.KindOf(c.Notice)
	args := []any{
		c.Chat, c.Key, kind.Name, kind.Purpose, labeled{c.Notice, c.Ladder}, c.Addressee.Name, c.ReplyTo, c.Thread,
		TimeLeft(c.SentAt, now, kind.Purpose.Lifetime()), c.Addressee.Player, kind.Alone, language,
	}
	if c.Asks != nil && c.Asks.ID == 0 {
		queuePrompt(batch, *c.Asks, args)
	} else {
		batch.Queue(insertNotice, args...)
	}
}

// queueCard changes the card of a match. A card that waits to be sent is sent with the new content.
// If the card is being sent, is finished, or has been purged, an edit of its message is queued. The
// card's own row gets the new content in any state, because a message that shows several matches is
// rendered from it.
func queueCard(batch *pgx.Batch, chat ranking.ChatID, key string, card ranking.Card, ladder *ranking.LadderLabel) {
	kind := notice.KindOf(card.Notice)
	batch.Queue(`
		WITH card AS (
		    UPDATE outbox SET payload = $5
		    WHERE match_id = $2 AND chat_id = $1 AND kind = $3 AND action = 'send'
		    RETURNING state)
		INSERT INTO outbox (chat_id, key, kind, purpose, payload, action, match_id, supersede_key, expires_at)
		SELECT $1, $6, $3, $4, $5, 'edit', $2, 'card:' || $2::bigint, now() + $7::interval
		WHERE NOT EXISTS (SELECT FROM card WHERE state = 'planned')
		ON CONFLICT (chat_id, supersede_key) WHERE supersede_key IS NOT NULL DO UPDATE
		SET kind = excluded.kind, payload = excluded.payload, key = excluded.key, expires_at = excluded.expires_at`,
		chat, card.Match, kind.Name, kind.Purpose, labeled{card.Notice, ladder}, key, postgres.EditLifetime)
}

// labeled is a notice in its stored form, which contains the label of the ladder if ladder is not
// nil.
type labeled struct {
	notice ranking.Notice
	ladder *ranking.LadderLabel
}

// MarshalJSON implements json.Marshaler.
func (l labeled) MarshalJSON() ([]byte, error) {
	payload, err := json.Marshal(l.notice)
	if err != nil || l.ladder == nil {
		return payload, err
	}
	label, err := json.Marshal(l.ladder)
	start := slices.Concat([]byte(`{"ladder":`), label)
	rest := bytes.TrimPrefix(payload, []byte("{"))
	if !bytes.Equal(rest, []byte("}")) {
		start = append(start, ',')
	}
	return append(start, rest...), err
}

// supersedePage is the clause that makes an inserted page replace a waiting page for the same
// message.
const supersedePage = `
		ON CONFLICT (chat_id, supersede_key) WHERE supersede_key IS NOT NULL DO UPDATE
		SET key = excluded.key, kind = excluded.kind, purpose = excluded.purpose, payload = excluded.payload,
		    addressee = excluded.addressee, addressee_id = excluded.addressee_id, expires_at = excluded.expires_at`

// queuePage inserts the page that replaces the content of the message c.PageMessageID. It
// supersedes a waiting page for the same message.
func queuePage(batch *pgx.Batch, now time.Time, c ranking.Changes) {
	kind := notice.KindOf(c.Page)
	batch.Queue(`
		INSERT INTO outbox (chat_id, key, kind, purpose, payload, addressee, addressee_id,
		                    action, edited_message_id, supersede_key, expires_at, alone)
		VALUES ($1, $2, $3, $4, $5, $6, nullif($10::bigint, 0), 'page', $7, $8, clock_timestamp() + $9::interval, true)`+
		supersedePage,
		c.Chat, c.Key, kind.Name, kind.Purpose, labeled{c.Page, c.Ladder}, c.Addressee.Name,
		c.PageMessageID, fmt.Sprintf("page:%d", c.PageMessageID),
		TimeLeft(c.SentAt, now, kind.Purpose.Lifetime()), c.Addressee.Player)
}
