package pgoutbox_test

import (
	"testing"

	"elobot/internal/outbox"
	"elobot/internal/postgres/dbtest"
)

// TestPromptIsDelivered checks that the time to answer a prompt starts once, when its message is
// sent. If the message is not sent, or the prompt is closed, the timer does not change.
func TestPromptIsDelivered(t *testing.T) {
	t.Parallel()
	m := newEmptyMail(t)
	dbtest.Exec(t, m.Pool, `
		UPDATE chats SET telegram_chat_id = -100 WHERE id = 1;
		INSERT INTO groups (chat_id) VALUES (1);
		`+dbtest.DefaultLadders+`
		INSERT INTO matches (group_id, ladder_id, season_id, number, score_a, score_b, k_factor, played_at, idempotency_key)
		    SELECT group_id, id, id, 1, 3, 1, 32, now(), 'm:-100:1' FROM ladders`)
	for name, tc := range map[string]struct {
		result func(outbox.Message) outbox.Result
		before string // SQL to run before the result is recorded
		want   string // minutes until the timer is due, and the id of the message
	}{
		"sent":             {before: "SELECT", want: "5 7"},
		"unknown message":  {result: func(m outbox.Message) outbox.Result { return dbtest.SentAs(m, 0) }, before: "SELECT", want: "5 none"},
		"failed":           {result: func(m outbox.Message) outbox.Result { return dbtest.Failed(m, outbox.Failed) }, before: "SELECT", want: "60 none"},
		"dead":             {result: func(m outbox.Message) outbox.Result { return dbtest.Failed(m, outbox.Rejected) }, before: "SELECT", want: "60 none"},
		"recorded before":  {before: "UPDATE prompts SET delivered_at = now(), telegram_message_id = 6", want: "60 6"},
		"answered already": {before: "UPDATE prompts SET closed_at = now(), closed_as = 'answered'", want: "60 none"},
		"another chat id":  {before: "UPDATE chats SET telegram_chat_id = -1100 WHERE telegram_chat_id = -100", want: "5 none"},
	} {
		dbtest.Exec(t, m.Pool, `DELETE FROM timers; DELETE FROM prompts; DELETE FROM outbox;
			UPDATE chats SET telegram_chat_id = -100, frozen_until = NULL WHERE id = 1`)
		dbtest.Exec(t, m.Pool, `
			WITH notice AS (INSERT INTO outbox (chat_id, kind, payload, alone) VALUES (1, $1, '{}', true) RETURNING id, chat_id),
			asked AS (INSERT INTO prompts (id, chat_id, kind, match_id)
			    SELECT notice.id, chat_id, 'undo', matches.id FROM notice, matches)
			INSERT INTO timers SELECT 't:prompt:' || id, chat_id, now() + interval '1 hour' FROM notice`, "undo_prompt")
		taken := m.Turn(t, dbtest.Chat(1)).Message
		dbtest.Exec(t, m.Pool, tc.before)
		result := dbtest.SentAs(*taken, 7)
		if tc.result != nil {
			result = tc.result(*taken)
		}
		for range 2 { // the second time, the result is already recorded
			m.Finish(t, result)
		}
		got := dbtest.Value[string](t, m.Pool, `
			SELECT round(extract(epoch FROM due_at - now()) / 60) || ' ' || coalesce(telegram_message_id::text, 'none')
			FROM timers, prompts`)
		if got != tc.want {
			t.Errorf("%s: minutes left and message are %q, want %q", name, got, tc.want)
		}
	}
}
