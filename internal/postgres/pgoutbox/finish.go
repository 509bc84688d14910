package pgoutbox

import (
	"cmp"

	"github.com/jackc/pgx/v5"

	"elobot/internal/notice"
	"elobot/internal/outbox"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// queueResults records the results of messages. That takes at most six statements, however many
// results there are. Recording a result again has no further effect, except that a pause may end
// later.
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

// queueChats records the effects of results on whole chats: it freezes and parks chats, and records
// pins. It must come after all statements that change outbox rows, because a move of a chat also
// locks those rows first.
func queueChats(batch *pgx.Batch, results []outbox.Result) {
	queueFrozen(batch, results)
	queueParked(batch, results)
	queuePins(batch, results)
}

// resultRow is the part of a result that queueFor passes to statements.
type resultRow struct {
	Row         int64   `json:"id"`      // id of the message's first row
	Chat        int64   `json:"chat_id"` // the store's id of the chat
	SentTo      int64   `json:"sent_to"` // Telegram's id of the chat at the take
	Object      string  `json:"object"`
	Target      int64   `json:"target"`
	MessageID   int64   `json:"message_id"`
	Fingerprint string  `json:"fingerprint"`
	Pin         string  `json:"pin"`
	Pause       float64 `json:"pause"` // in seconds
	Parked      bool    `json:"parked"`
}

// theResults selects the results that queueFor passes as $1. The planner expects so few rows from
// unnest that it uses indexes.
const theResults = `unnest($1::jsonb[]) AS result CROSS JOIN LATERAL jsonb_to_record(result) AS r (
		    id bigint, chat_id bigint, sent_to bigint, object text, target bigint, message_id bigint,
		    fingerprint text, pin text, pause float8, parked boolean)`

// queueFor adds a statement about the results for which wanted returns true. The statement reads
// them from theResults, which unpacks $1; args follow as $2 and so on. Without such results,
// queueFor adds nothing.
func queueFor(batch *pgx.Batch, results []outbox.Result, wanted func(outbox.Result) bool, sql string, args ...any) {
	var rows []resultRow
	for _, r := range results {
		if m := r.Message; wanted(r) {
			rows = append(rows, resultRow{
				m.Row.ID, int64(m.Lane.Chat), m.ExternalChat, m.Object, m.Target, r.MessageID,
				r.Fingerprint, string(r.Pin), r.Pause.Seconds(), m.Parked,
			})
		}
	}
	if len(rows) > 0 {
		batch.Queue(sql, append([]any{rows}, args...)...)
	}
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
	ID       int64  `json:"id"`
	Attempts int    `json:"attempts"` // the row's attempts as of the request
	State    string `json:"state"`
	First    bool   `json:"first"`   // the row is the first of its message
	Skipped  bool   `json:"skipped"` // the request did not cover the row
	// Deferred means that the row is set aside. The take then does not count as an attempt.
	Deferred bool `json:"deferred"`

	// The following fields come from the result.
	SentTo      int64    `json:"sent_to"`
	MessageID   int64    `json:"message_id"`
	Fingerprint string   `json:"fingerprint"`
	Language    string   `json:"language"`
	Covered     int      `json:"covered"`
	Reason      *string  `json:"reason"`
	Pause       *float64 `json:"pause"`
	Failed      bool     `json:"failed"`
}

func outcomes(r outbox.Result) []outcome {
	m, n := r.Message, r.CoveredRows()
	first := outcome{
		ID: m.Row.ID, Attempts: m.Row.Attempts, State: stateOfFirst(r), First: true,
		SentTo: m.ExternalChat, MessageID: r.MessageID, Fingerprint: r.Fingerprint, Language: m.Language, Covered: n,
		Reason: reason(r), Pause: pause(r),
		Deferred: isFailure(r, outbox.Unsupported), Failed: isFailure(r, outbox.Failed),
	}
	rows := []outcome{first}
	if m.Action != outbox.Send {
		return rows // the other items of an edited message were delivered before
	}
	for i := 1; i < len(m.Items); i++ {
		o := first
		o.ID, o.Attempts, o.State, o.First = m.Items[i].ID, m.Items[i].Attempts, stateOfOthers(r), false
		if i >= n {
			o.State, o.Skipped, o.Deferred = planned, true, false
		}
		rows = append(rows, o)
	}
	return rows
}

func stateOfFirst(r outbox.Result) string {
	switch f := r.Failure; {
	case f == nil:
		return sent
	case f.Kind == outbox.Rejected || f.Kind == outbox.Failed && r.Dead:
		return dead
	case f.Kind == outbox.Obsolete:
		return expired
	case f.Kind == outbox.Uncertain:
		return uncertain
	case f.Kind == outbox.Ambiguous:
		return sending
	default:
		return planned
	}
}

// stateOfOthers returns the new state of the rows that the request covered, except the first row.
func stateOfOthers(r outbox.Result) string {
	switch state := stateOfFirst(r); state {
	case dead, expired:
		return planned
	default:
		return state
	}
}

func reason(r outbox.Result) *string {
	if r.Failure == nil {
		return nil
	}
	text := string(r.Failure.Kind)
	if r.Failure.Err != nil {
		text = cmp.Or(postgres.Storable(r.Failure.Err.Error()), text)
	}
	return &text
}

func isFailure(r outbox.Result, kind outbox.FailureKind) bool {
	return r.Failure != nil && r.Failure.Kind == kind
}

// freezes reports whether a result pauses the whole chat instead of only its row.
func freezes(r outbox.Result) bool {
	return isFailure(r, outbox.RateLimited) && r.Message.Lane.Kind != outbox.CallbackAnswers
}

// pause returns how many seconds the first row must wait, or nil if it has no pause of its own.
func pause(r outbox.Result) *float64 {
	if r.Failure == nil || freezes(r) || r.Failure.LeavesLane() || r.Failure.Kind == outbox.Forbidden {
		return nil
	}
	return new(r.Pause.Seconds())
}

// queueOutcomes records the new states of rows, except rows that were taken again in the meantime.
// Rows keep their batch if they were sent together or stay marked as sending. If rows wait again,
// only the first one keeps tried_at, unless its first attempt set it aside. If a new message was
// sent and its id is known, its rows about matches are recorded in match_messages, except
// summaries. Dead rows are recorded in dead_letters.
func queueOutcomes(batch *pgx.Batch, results []outbox.Result) {
	const sql = `
		WITH r AS (
		    SELECT r.* FROM unnest($1::jsonb[]) AS outcome CROSS JOIN LATERAL jsonb_to_record(outcome) AS r (
		        id bigint, attempts integer, state text, first boolean, skipped boolean, deferred boolean,
		        sent_to bigint, message_id bigint, fingerprint text, language text, covered integer,
		        reason text, pause float8, failed boolean)
		), changed AS (
		    UPDATE outbox o
		    SET state = r.state,
		        finished_at = CASE WHEN r.state IN ('sent', 'dead', 'expired', 'uncertain') THEN now() END,
		        telegram_message_id = CASE WHEN r.state = 'sent' THEN r.message_id END,
		        last_error = CASE WHEN r.skipped THEN o.last_error ELSE coalesce(r.reason, o.last_error) END,
		        batch = CASE WHEN r.state = 'sending' OR r.state = 'sent' AND r.covered > 1 THEN o.batch END,
		        not_before = greatest(o.not_before, CASE WHEN r.first THEN now() + make_interval(secs => r.pause) END),
		        tried_at = CASE WHEN NOT (r.deferred AND o.attempts = 1) AND (r.first OR r.state <> 'planned')
		            THEN o.tried_at END,
		        deferred_at = CASE WHEN r.deferred THEN now() END,
		        failures = o.failures + (r.first AND r.failed)::integer,
		        attempts = o.attempts - (r.skipped OR r.deferred)::integer
		    FROM r
		    WHERE o.id = r.id AND o.id = ANY (ARRAY(SELECT id FROM r)) AND o.state = 'sending' AND o.attempts = r.attempts
		    RETURNING o.id, o.state, o.action, o.kind, o.match_id, o.payload, o.attempts, o.created_at,
		              r.sent_to, r.message_id, r.covered, r.fingerprint, r.language, r.reason
		), dead_letter AS (
		    INSERT INTO dead_letters (kind, outbox_id, payload, last_error, attempts, first_seen_at)
		    SELECT 'notice', id, convert_to(payload::text, 'UTF8'), reason, attempts, created_at
		    FROM changed WHERE state = 'dead'
		)
		INSERT INTO match_messages
		    (telegram_chat_id, telegram_message_id, match_id, outbox_id, covered, fingerprint, language)
		SELECT sent_to, message_id, match_id, id, covered, fingerprint, language FROM changed
		WHERE state = 'sent' AND action = 'send' AND kind <> $2 AND match_id IS NOT NULL AND message_id > 0
		ON CONFLICT ON CONSTRAINT match_messages_pkey DO NOTHING`
	var rows []outcome
	for _, r := range results {
		rows = append(rows, outcomes(r)...)
	}
	batch.Queue(sql, rows, notice.KindOf(ranking.ResultsSummary{}).Name)
}

func queueEdited(batch *pgx.Batch, results []outbox.Result) {
	queueFor(batch, results, func(r outbox.Result) bool {
		return r.Failure == nil && r.Message.Action == outbox.Edit && r.Message.Target != 0
	}, `
		UPDATE match_messages mm SET fingerprint = r.fingerprint
		FROM `+theResults+`
		WHERE mm.telegram_chat_id = r.sent_to AND mm.telegram_message_id = r.target`)
}

// queueEnsured records the ids and the fingerprints of messages that exist once. It skips a chat
// whose id has changed since the take.
func queueEnsured(batch *pgx.Batch, results []outbox.Result) {
	queueFor(batch, results, func(r outbox.Result) bool {
		return r.Failure == nil && r.Message.Action == outbox.Ensure && r.MessageID > 0 && !r.Ended
	}, `
		INSERT INTO ensured_messages (chat_id, object, telegram_message_id, fingerprint)
		SELECT c.id, r.object, r.message_id, r.fingerprint
		FROM `+theResults+` JOIN chats c ON c.id = r.chat_id AND c.telegram_chat_id = r.sent_to
		ON CONFLICT ON CONSTRAINT ensured_messages_pkey DO UPDATE
		SET telegram_message_id = excluded.telegram_message_id, fingerprint = excluded.fingerprint`)
}

// queuePrompts records when prompts were delivered and in which messages, and starts the time limit
// for answers. It must come after queueOutcomes. If the chat's id has changed since the take,
// queuePrompts does not record the message, because the message's id would now mean another
// message.
func queuePrompts(batch *pgx.Batch, results []outbox.Result) {
	queueFor(batch, results, func(r outbox.Result) bool {
		return r.Failure == nil && ranking.IsPrompt(r.Message.Row.Kind)
	}, `
		WITH r AS (
		    SELECT r.* FROM `+theResults+`
		), delivered AS (
		    UPDATE prompts p
		    SET delivered_at = now(), telegram_message_id = (
		        SELECT nullif(r.message_id, 0) FROM chats c WHERE c.id = p.chat_id AND c.telegram_chat_id = r.sent_to)
		    FROM r
		    WHERE p.id = r.id AND p.id = ANY (ARRAY(SELECT id FROM r)) AND p.delivered_at IS NULL AND p.closed_at IS NULL
		      AND (SELECT o.state FROM outbox o WHERE o.id = r.id) = 'sent'
		    RETURNING '`+ranking.PromptTimer+`' || p.id AS timer, p.kind)
		UPDATE timers SET due_at = now() + CASE kind WHEN $3 THEN $4::interval ELSE $2::interval END
		FROM delivered WHERE key = timer AND key = ANY (ARRAY(SELECT timer FROM delivered))`,
		ranking.PromptWindow, ranking.PromptImport, ranking.PromptImport.Window())
}

// queueFrozen freezes chats that are rate limited, for the pause of the result. It skips a chat
// whose id has changed since the take, because the pause was for the old id.
func queueFrozen(batch *pgx.Batch, results []outbox.Result) {
	queueFor(batch, results, freezes, `
		UPDATE chats c SET frozen_until = greatest(c.frozen_until, now() + make_interval(secs => r.pause))
		FROM `+theResults+` WHERE c.id = r.chat_id AND c.telegram_chat_id = r.sent_to`)
}

// queueParked parks chats that the bot may not write to: for longer after each refusal, up to 24
// hours. Success in a parked chat ends the parking. After an outcome that is neither a success nor
// a refusal, the bot may try again at once.
//
// A chat is skipped if its parking or its id has changed since the take. For example, the bot was
// added again, or the result is already recorded. A chat is also skipped after the first attempt at
// a row that is set aside, because queueOutcomes has removed the row's tried_at.
func queueParked(batch *pgx.Batch, results []outbox.Result) {
	const after = `(ARRAY[` + postgres.FirstParking + `, '1 hour', '6 hours', '24 hours'])[least(c.parkings + 1, 4)]`
	set := func(sql string, wanted func(outbox.Result) bool) {
		queueFor(batch, results, wanted, `
			WITH r AS (SELECT r.* FROM `+theResults+`)
			UPDATE chats c SET `+sql+`
			FROM r
			WHERE c.id = r.chat_id AND c.id = ANY (ARRAY(SELECT chat_id FROM r)) AND c.telegram_chat_id = r.sent_to
			  AND c.parked_at IS NOT DISTINCT FROM CASE WHEN r.parked THEN (SELECT tried_at FROM outbox WHERE id = r.id) END`)
	}
	refused := func(r outbox.Result) bool { return isFailure(r, outbox.Forbidden) }
	told := func(r outbox.Result) bool { return r.Failure == nil && !r.Skipped }
	set(`parked_at = now(), parked_until = now() + `+after+`, parkings = least(c.parkings + 1, 4)`, refused)
	set(postgres.Unparked, func(r outbox.Result) bool { return r.Message.Parked && told(r) })
	set(`parked_until = now()`, func(r outbox.Result) bool { return r.Message.Parked && !told(r) && !refused(r) })
}
