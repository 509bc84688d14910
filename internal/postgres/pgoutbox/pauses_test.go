package pgoutbox_test

import (
	"fmt"
	"testing"
	"time"

	"elobot/internal/outbox"
	"elobot/internal/postgres/dbtest"
)

// TestPausesFromBeforeTheClockWasSetBack checks that, if the last request for a notice seems to be
// in the future, because the clock was set back, the pauses of the notice and of its chat end. An
// ordinary pause continues.
func TestPausesFromBeforeTheClockWasSetBack(t *testing.T) {
	t.Parallel()
	m := newEmptyMail(t)
	dbtest.Exec(t, m.Pool, `INSERT INTO chats (telegram_chat_id, kind) VALUES (-300, 'group')`)
	for i, since := range []string{"interval '1 second'", "interval '-2 hours'"} {
		dbtest.Exec(t, m.Pool, fmt.Sprintf(`
			INSERT INTO outbox (chat_id, kind, payload, created_at, tried_at, attempts, not_before)
			SELECT $1, 'k', '{}', now() - interval '1 day', now() - %[1]s, 1, now() - %[1]s + interval '20 seconds'`, since),
			[]int{1, 3}[i])
	}
	dbtest.Exec(t, m.Pool, `UPDATE chats SET frozen_until = now() + interval '2 hours 20 seconds' WHERE id = 3;
		INSERT INTO outbox (chat_id, kind, payload) VALUES (1, 'k', '{}'), (3, 'k', '{}')`)
	waiting, err := m.Waiting(t.Context(), dbtest.Bounds)
	dbtest.Must(t, err)
	for _, b := range waiting {
		if isOver := b.Wait == 0; isOver != (b.Lane == dbtest.Chat(3)) {
			t.Errorf("lane %+v waits for %v", b.Lane, b.Wait)
		}
	}
	if turn := m.Turn(t, dbtest.Chat(1)); turn.Message != nil || turn.Wait <= 0 {
		t.Errorf("a notice that has just failed: %+v", turn)
	}
	r := dbtest.Failed(m.MustTake(t, 3, 2, 4), outbox.Unreachable)
	r.Pause = time.Minute
	m.Finish(t, r)
	if turn := m.Turn(t, dbtest.Chat(3)); turn.Message != nil || turn.Wait > time.Minute {
		t.Errorf("after a failure: %+v", turn)
	}
	dbtest.Exec(t, m.Pool, `UPDATE outbox SET not_before = now()`)
	m.Finish(t, dbtest.SentAs(m.MustTake(t, 3, 2, 4), 7))
	dbtest.Exec(t, m.Pool, `INSERT INTO outbox (chat_id, kind, payload) VALUES (3, 'k', '{}')`)
	m.MustTake(t, 3, 5)
}
