package pgoutbox

import (
	"cmp"

	"github.com/jackc/pgx/v5"

	"elobot/internal/notice"
	"elobot/internal/outbox"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// queueResults records the results of messages, in a handful of statements however many there are. A result that is
// recorded already changes no row.
func queueResults(batch *pgx.Batch, results []outbox.Result) {
	if len(results) == 0 {
		return
	}
	queueOutcomes(batch, results)
	queueEdited(batch, results)
	queueEnsured(batch, results)
	queueEndedObjects(batch, results)
	queuePrompts(batch, results)
	queueSummaries(batch, results)
}

// queueChats records what results mean for whole chats. It must come after the rows, because moving a chat locks the
// rows first, too.
func queueChats(batch *pgx.Batch, results []outbox.Result) {
	queueFrozen(batch, results)
	queueParked(batch, results)
	queuePins(batch, results)
}

func only(results []outbox.Result, wanted func(outbox.Result) bool) []outbox.Result {
	var some []outbox.Result
	for _, r := range results {
		if wanted(r) {
			some = append(some, r)
		}
	}
	return some
}

// The states of rows in the outbox.
const (
	planned   = "planned"
	sending   = "sending"
	sent      = "sent"
	dead      = "dead"
	expired   = "expired"
	uncertain = "uncertain"
)

// outcome is the new state of a row that was being sent.
type outcome struct {
	result   int   // the number of the result, from 1
	id       int64 // of the row
	attempts int   // the row's attempts as of the request
	state    string
	first    bool // of its message
	skipped  bool // the request did not cover the row
	deferred bool // set aside, as the row was before it was taken
	untried  bool // put back without a request, as the row was before it was taken
}

// covered returns how many rows the result covers.
func covered(r outbox.Result) int {
	all := 1
	if r.Message.Action == outbox.Send {
		all = len(r.Message.Items)
	}
	if r.Covered <= 0 || r.Covered > all {
		return all
	}
	return r.Covered
}

// outcomes returns the new states of a message's rows.
func outcomes(number int, r outbox.Result) []outcome {
	m, n := r.Message, covered(r)
	deferred := r.Failure != nil && r.Failure.Class == outbox.Unsupported
	untried := deferred || r.Failure != nil && r.Failure.Class == outbox.NotReady
	rows := []outcome{{
		result: number, id: m.Row.ID, attempts: m.Row.Attempts, state: stateOfFirst(r), first: true, deferred: deferred, untried: untried,
	}}
	if m.Action != outbox.Send {
		return rows // the other items of an edited message were delivered before
	}
	for i := 1; i < len(m.Items); i++ {
		item, skipped := m.Items[i], i >= n
		o := outcome{result: number, id: item.ID, attempts: item.Attempts, state: stateOfOthers(r), skipped: skipped,
			deferred: deferred && !skipped, untried: untried && !skipped}
		if skipped {
			o.state = planned
		}
		rows = append(rows, o)
	}
	return rows
}

// stateOfFirst returns the new state of a message's first row.
func stateOfFirst(r outbox.Result) string {
	switch f := r.Failure; {
	case f == nil:
		return sent
	case f.Class == outbox.Rejected || f.Class == outbox.Failed && r.Dead:
		return dead
	case f.Class == outbox.Obsolete:
		return expired
	case f.Class == outbox.Uncertain:
		return uncertain
	case f.Class == outbox.Ambiguous:
		return sending
	default:
		return planned
	}
}

// stateOfOthers returns the new state of the other rows that the request covered.
func stateOfOthers(r outbox.Result) string {
	switch state := stateOfFirst(r); state {
	case dead, expired:
		return planned
	default:
		return state
	}
}

// reason returns the text of a failure, nil if there was none.
func reason(r outbox.Result) *string {
	if r.Failure == nil || r.Failure.Class == outbox.NotReady {
		return nil
	}
	text := string(r.Failure.Class)
	if r.Failure.Err != nil {
		text = cmp.Or(postgres.Storable(r.Failure.Err.Error()), text)
	}
	return &text
}

// freezes reports whether a result pauses the whole chat, and not only its row.
func freezes(r outbox.Result) bool {
	return r.Failure != nil && r.Failure.Class == outbox.RateLimited && r.Message.Lane.Kind != outbox.CallbackAnswers
}

// pause returns for how many seconds the first row must wait, nil if the row itself need not wait.
func pause(r outbox.Result) *float64 {
	if r.Failure == nil || freezes(r) {
		return nil
	}
	switch r.Failure.Class {
	case outbox.Forbidden, outbox.Rejected, outbox.Obsolete, outbox.Uncertain, outbox.Unsupported:
		return nil
	}
	seconds := r.Pause.Seconds()
	return &seconds
}

// queueOutcomes records the new states of rows, unless another request for them has begun since. Rows that were sent
// together stay together. Of rows that wait again, only the first one counts as tried.
func queueOutcomes(batch *pgx.Batch, results []outbox.Result) {
	const sql = `
		WITH result AS (
		    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::integer[], $5::text[], $6::float8[],
		                         $7::boolean[], $8::text[])
		        WITH ORDINALITY AS r (sent_to, message_id, fingerprint, covered, reason, pause, failed, language, n)
		), row_outcome AS (
		    SELECT * FROM unnest($9::bigint[], $10::bigint[], $11::integer[], $12::text[], $13::boolean[], $14::boolean[],
		                         $15::boolean[], $16::boolean[])
		        AS w (n, id, attempts, state, first, skipped, deferred, untried)
		), changed AS (
		    UPDATE outbox o
		    SET state = row_outcome.state,
		        finished_at = CASE WHEN row_outcome.state IN ('sent', 'dead', 'expired', 'uncertain') THEN now() END,
		        telegram_message_id = CASE WHEN row_outcome.state = 'sent' THEN r.message_id END,
		        last_error = CASE WHEN row_outcome.skipped THEN o.last_error ELSE coalesce(r.reason, o.last_error) END,
		        batch = CASE WHEN row_outcome.state = 'sending' OR row_outcome.state = 'sent' AND r.covered > 1 THEN o.batch END,
		        not_before = greatest(o.not_before, CASE WHEN row_outcome.first THEN now() + make_interval(secs => r.pause) END),
		        tried_at = CASE WHEN NOT (row_outcome.untried AND o.attempts = 1)
		                         AND (row_outcome.first OR row_outcome.state <> 'planned') THEN o.tried_at END,
		        deferred_at = CASE WHEN row_outcome.deferred THEN now() END,
		        failures = o.failures + (row_outcome.first AND r.failed)::integer,
		        attempts = o.attempts - (row_outcome.skipped OR row_outcome.untried)::integer
		    FROM row_outcome JOIN result r USING (n)
		    WHERE o.id = row_outcome.id AND o.id = ANY (ARRAY(SELECT id FROM row_outcome))
		      AND o.state = 'sending' AND o.attempts = row_outcome.attempts
		    RETURNING o.id, o.state, o.action, o.kind, o.match_id, o.payload, o.attempts, o.created_at,
		              r.sent_to, r.message_id, r.covered, r.fingerprint, r.language, r.reason
		), dead_letter AS (
		    INSERT INTO dead_letters (kind, outbox_id, payload, last_error, attempts, first_seen_at)
		    SELECT 'notice', id, convert_to(payload::text, 'UTF8'), reason, attempts, created_at
		    FROM changed WHERE state = 'dead'
		)
		INSERT INTO match_messages (telegram_chat_id, telegram_message_id, match_id, outbox_id, covered, fingerprint, language)
		SELECT sent_to, message_id, match_id, id, covered, fingerprint, language FROM changed
		WHERE state = 'sent' AND action = 'send' AND kind <> $17 AND match_id IS NOT NULL AND message_id > 0
		ON CONFLICT ON CONSTRAINT match_messages_pkey DO NOTHING`
	var rows []outcome
	for i, r := range results {
		rows = append(rows, outcomes(i+1, r)...)
	}
	batch.Queue(sql,
		postgres.Column(results, func(r outbox.Result) int64 { return r.Message.ExternalChat }),
		postgres.Column(results, func(r outbox.Result) int64 { return r.MessageID }),
		postgres.Column(results, func(r outbox.Result) string { return r.Fingerprint }),
		postgres.Column(results, covered),
		postgres.Column(results, reason),
		postgres.Column(results, pause),
		postgres.Column(results, func(r outbox.Result) bool { return r.Failure != nil && r.Failure.Class == outbox.Failed }),
		postgres.Column(results, func(r outbox.Result) string { return r.Message.Language }),
		postgres.Column(rows, func(o outcome) int { return o.result }),
		postgres.Column(rows, func(o outcome) int64 { return o.id }),
		postgres.Column(rows, func(o outcome) int { return o.attempts }),
		postgres.Column(rows, func(o outcome) string { return o.state }),
		postgres.Column(rows, func(o outcome) bool { return o.first }),
		postgres.Column(rows, func(o outcome) bool { return o.skipped }),
		postgres.Column(rows, func(o outcome) bool { return o.deferred }),
		postgres.Column(rows, func(o outcome) bool { return o.untried }),
		notice.KindOf(ranking.ResultsSummary{}).Name)
}

// queueEdited records the content of edited messages.
func queueEdited(batch *pgx.Batch, results []outbox.Result) {
	edited := only(results, func(r outbox.Result) bool {
		return r.Failure == nil && r.Message.Action == outbox.Edit && r.Message.Target != 0
	})
	if len(edited) == 0 {
		return
	}
	batch.Queue(`
		UPDATE match_messages mm SET fingerprint = r.fingerprint
		FROM unnest($1::bigint[], $2::bigint[], $3::text[]) AS r (sent_to, message_id, fingerprint)
		WHERE mm.telegram_chat_id = r.sent_to AND mm.telegram_message_id = r.message_id`,
		postgres.Column(edited, func(r outbox.Result) int64 { return r.Message.ExternalChat }),
		postgres.Column(edited, func(r outbox.Result) int64 { return r.Message.Target }),
		postgres.Column(edited, func(r outbox.Result) string { return r.Fingerprint }))
}

// queueEnsured records which messages exist once, and their content. If the chat has got another id in the meantime,
// they are dropped.
func queueEnsured(batch *pgx.Batch, results []outbox.Result) {
	ensured := only(results, func(r outbox.Result) bool {
		return r.Failure == nil && r.Message.Action == outbox.Ensure && r.MessageID > 0 && !r.Ended
	})
	if len(ensured) == 0 {
		return
	}
	batch.Queue(`
		INSERT INTO ensured_messages (chat_id, object, telegram_message_id, fingerprint)
		SELECT c.id, r.object, r.message_id, r.fingerprint
		FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::text[])
		     AS r (chat_id, sent_to, object, message_id, fingerprint)
		JOIN chats c ON c.id = r.chat_id AND c.telegram_chat_id = r.sent_to
		ON CONFLICT ON CONSTRAINT ensured_messages_pkey DO UPDATE
		SET telegram_message_id = excluded.telegram_message_id, fingerprint = excluded.fingerprint`,
		postgres.Column(ensured, func(r outbox.Result) int64 { return int64(r.Message.Lane.Chat) }),
		postgres.Column(ensured, func(r outbox.Result) int64 { return r.Message.ExternalChat }),
		postgres.Column(ensured, func(r outbox.Result) string { return r.Message.Object }),
		postgres.Column(ensured, func(r outbox.Result) int64 { return r.MessageID }),
		postgres.Column(ensured, func(r outbox.Result) string { return r.Fingerprint }))
}

// queuePrompts records which messages ask prompts, and lets the time to answer them begin. It must come after the new states
// of the rows. The message of a chat that has got another id in the meantime is skipped: its id means another message by now.
func queuePrompts(batch *pgx.Batch, results []outbox.Result) {
	asked := only(results, func(r outbox.Result) bool { return r.Failure == nil && ranking.IsPrompt(r.Message.Row.Kind) })
	if len(asked) == 0 {
		return
	}
	batch.Queue(`
		WITH delivered AS (
		    UPDATE prompts p
		    SET delivered_at = now(), telegram_message_id = (
		        SELECT nullif(r.message_id, 0) FROM chats c WHERE c.id = p.chat_id AND c.telegram_chat_id = r.sent_to)
		    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS r (id, sent_to, message_id)
		    WHERE p.id = r.id AND p.id = ANY ($1) AND p.delivered_at IS NULL AND p.closed_at IS NULL
		      AND (SELECT o.state FROM outbox o WHERE o.id = r.id) = 'sent'
		    RETURNING '`+ranking.PromptTimer+`' || p.id AS timer)
		UPDATE timers SET due_at = now() + $4::interval WHERE key = ANY (ARRAY(SELECT timer FROM delivered))`,
		postgres.Column(asked, func(r outbox.Result) int64 { return r.Message.Row.ID }),
		postgres.Column(asked, func(r outbox.Result) int64 { return r.Message.ExternalChat }),
		postgres.Column(asked, func(r outbox.Result) int64 { return r.MessageID }),
		ranking.PromptWindow)
}

// queueFrozen freezes chats for as long as Telegram asks. A chat that has got another id in the meantime is skipped:
// the pause was for the old one.
func queueFrozen(batch *pgx.Batch, results []outbox.Result) {
	frozen := only(results, freezes)
	if len(frozen) == 0 {
		return
	}
	batch.Queue(`
		UPDATE chats c SET frozen_until = greatest(c.frozen_until, now() + make_interval(secs => r.pause))
		FROM unnest($1::bigint[], $2::bigint[], $3::float8[]) AS r (chat_id, sent_to, pause)
		WHERE c.id = r.chat_id AND c.telegram_chat_id = r.sent_to`,
		postgres.Column(frozen, func(r outbox.Result) int64 { return int64(r.Message.Lane.Chat) }),
		postgres.Column(frozen, func(r outbox.Result) int64 { return r.Message.ExternalChat }),
		postgres.Column(frozen, func(r outbox.Result) float64 { return r.Pause.Seconds() }))
}

// queueParked parks chats that the bot may not write to, unless a newer notice shows that the chat was active after
// the request began. A chat that has got another id in the meantime is skipped: the request was for the old one.
func queueParked(batch *pgx.Batch, results []outbox.Result) {
	forbidden := only(results, func(r outbox.Result) bool { return r.Failure != nil && r.Failure.Class == outbox.Forbidden })
	if len(forbidden) == 0 {
		return
	}
	batch.Queue(`
		UPDATE chats c SET parked_at = now()
		FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS r (chat_id, sent_to, id)
		JOIN outbox tried ON tried.id = r.id
		WHERE c.id = r.chat_id AND c.telegram_chat_id = r.sent_to AND NOT EXISTS (
		    SELECT FROM (SELECT c.id AS chat_id, lane FROM unnest($4::smallint[]) AS active (lane)) AS l
		    CROSS JOIN LATERAL (
		        SELECT o.created_at FROM outbox o WHERE `+waits+` ORDER BY `+fromTheEnd+` LIMIT 1) AS newest
		    WHERE newest.created_at > tried.tried_at)`,
		postgres.Column(forbidden, func(r outbox.Result) int64 { return int64(r.Message.Lane.Chat) }),
		postgres.Column(forbidden, func(r outbox.Result) int64 { return r.Message.ExternalChat }),
		postgres.Column(forbidden, func(r outbox.Result) int64 { return r.Message.Row.ID }),
		[]outbox.LaneKind{outbox.Messages, outbox.CallbackAnswers, outbox.Pages})
}
