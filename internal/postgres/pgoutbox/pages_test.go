package pgoutbox_test

import (
	"fmt"
	"testing"
	"time"

	"elobot/internal/outbox"
	"elobot/internal/postgres/dbtest"
)

const aPage = `INSERT INTO outbox
	(chat_id, kind, payload, purpose, action, edited_message_id, supersede_key, expires_at)
	VALUES (1, 'p', '{}', 'answer', 'page', $1::bigint, 'page:' || $1::text, now() + interval '10 minutes')`

// TestPages checks that pages and messages of a chat can be taken in one call of Advance. A taken
// page names the message that it edits.
func TestPages(t *testing.T) {
	t.Parallel()
	m := newMail(t)
	for _, message := range []int{71, 72} {
		dbtest.Exec(t, m.Pool, aPage, message)
	}
	var got []string
	for _, turn := range m.MustAdvance(t, dbtest.Bounds, nil, dbtest.Pages(1), dbtest.Chat(1), dbtest.Answers(1)) {
		if turn.Message != nil {
			got = append(got, fmt.Sprintln(turn.Message.Lane, turn.Message.Action, dbtest.IDs(turn.Message),
				turn.Message.Target, turn.Message.More))
		}
	}
	dbtest.Equal(t, "turns", []string{"{1 2} page [5] 71 true\n", "{1 0} send [1] 0 true\n"}, got)
	m.MustHaveRows(t, `concat(state, supersede_key)`,
		"1 sending", "2 planned", "3 planned", "4 planned", "5 sending", "6 plannedpage:72")
}

// TestEndsOfPages checks that a page stays in its lane after a failure that the page did not cause.
// The page expires if its message is gone, and is dead if the messenger rejects the page.
func TestEndsOfPages(t *testing.T) {
	t.Parallel()
	for kind, want := range map[outbox.FailureKind]string{
		"": "sent 71", outbox.Ambiguous: "sending", outbox.Unreachable: "planned", outbox.RateLimited: "planned", outbox.Forbidden: "planned",
		outbox.Obsolete: "expired", outbox.Rejected: "dead",
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			m := newEmptyMail(t)
			dbtest.Exec(t, m.Pool, aPage, 71)
			taken := m.Turn(t, dbtest.Pages(1)).Message
			r := dbtest.SentAs(*taken, taken.Target)
			if kind != "" {
				r = dbtest.Failed(*taken, kind)
			}
			m.Finish(t, r)
			m.MustHaveRows(t, `concat_ws(' ', state, telegram_message_id)`, "1 "+want)
			frozen, parked := kind == outbox.RateLimited, kind == outbox.Forbidden
			chat := dbtest.Value[string](t, m.Pool, `
				SELECT concat(frozen_until IS NOT NULL, parked_at IS NOT NULL) FROM chats WHERE id = 1`)
			short := map[bool]string{true: "t", false: "f"}
			if chat != short[frozen]+short[parked] {
				t.Errorf("the chat is frozen and parked: %s", chat)
			}
		})
	}
}

// TestNewestPage checks that, of several waiting pages of a message, the newest is sent, even if an
// earlier page was tried and failed.
func TestNewestPage(t *testing.T) {
	t.Parallel()
	for _, kind := range []outbox.FailureKind{
		outbox.RateLimited, outbox.Unreachable, outbox.Failed, outbox.Ambiguous, outbox.Migrated, outbox.Unauthorized,
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			m := newEmptyMail(t)
			press := func(message int) { dbtest.Exec(t, m.Pool, aPage, message) }
			press(71)
			tried := m.Turn(t, dbtest.Pages(1)).Message
			press(71) // while the first is in flight
			press(72)
			m.Finish(t, dbtest.Failed(*tried, kind))
			dbtest.Exec(t, m.Pool, `UPDATE chats SET frozen_until = NULL; UPDATE outbox SET not_before = NULL`)
			turn := m.Turn(t, dbtest.Pages(1))
			dbtest.Equal(t, fmt.Sprintf("%+v", turn), []int64{2}, dbtest.IDs(turn.Message))
			m.MustHaveRows(t, `state`, "1 expired", "2 sending", "3 planned")
		})
	}
}

// TestPagesOfAPausedChat checks that pages wait while their chat is parked or frozen. Recent counts
// requests for pages. Pages expire at their deadline.
func TestPagesOfAPausedChat(t *testing.T) {
	t.Parallel()
	m := newEmptyMail(t)
	dbtest.Exec(t, m.Pool, aPage, 71)
	dbtest.Exec(t, m.Pool, `UPDATE chats SET parked_at = now(), parked_until = now() + interval '1 hour' WHERE id = 1`)
	if turn := m.Turn(t, dbtest.Pages(1)); turn.Message != nil || turn.Wait != 0 {
		t.Errorf("in a parked chat: %+v", turn)
	}
	m.MustWait(t)
	dbtest.Exec(t, m.Pool, `
		UPDATE chats SET parked_at = NULL, parked_until = NULL, frozen_until = now() + interval '1 hour' WHERE id = 1`)
	if turn := m.Turn(t, dbtest.Pages(1)); turn.Message != nil || turn.Wait < time.Minute {
		t.Errorf("in a frozen chat: %+v", turn)
	}
	dbtest.Exec(t, m.Pool, `UPDATE chats SET frozen_until = NULL`)
	taken := m.Turn(t, dbtest.Pages(1)).Message
	for range 2 { // in flight, and sent
		requests, err := m.Recent(t.Context(), time.Minute)
		if err != nil || len(requests) != 1 || requests[0].Chat != 1 {
			t.Errorf("requests %+v, %v", requests, err)
		}
		m.Finish(t, dbtest.SentAs(*taken, 71))
	}
	dbtest.Exec(t, m.Pool, aPage, 72)
	dbtest.Exec(t, m.Pool, `UPDATE outbox SET expires_at = now() WHERE finished_at IS NULL`)
	if s := m.MustSummarize(t, dbtest.Bounds, dbtest.Pages(1)); s.Expired != 1 {
		t.Errorf("too late: %+v", s)
	}
}
