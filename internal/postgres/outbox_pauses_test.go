package postgres_test

import (
	"fmt"
	"testing"
	"time"

	"elobot/internal/outbox"
)

// TestPausesFromBeforeTheClockWasSetBack: if the last request seems to be in the future, the clock was set back, and
// the pauses of the notice and of its chat are over. The pause after an ordinary failure is not.
func TestPausesFromBeforeTheClockWasSetBack(t *testing.T) {
	t.Parallel()
	m := newEmptyMail(t)
	exec(t, m.pool, `INSERT INTO chats (telegram_chat_id, kind) VALUES (-300, 'group')`)
	for i, since := range []string{"interval '1 second'", "interval '-2 hours'"} {
		exec(t, m.pool, fmt.Sprintf(`
			INSERT INTO outbox (chat_id, kind, payload, created_at, tried_at, attempts, not_before)
			SELECT $1, 'k', '{}', now() - interval '1 day', now() - %[1]s, 1, now() - %[1]s + interval '20 seconds'`, since), []int{1, 3}[i])
	}
	exec(t, m.pool, `UPDATE chats SET frozen_until = now() + interval '2 hours 20 seconds' WHERE id = 3;
		INSERT INTO outbox (chat_id, kind, payload) VALUES (1, 'k', '{}'), (3, 'k', '{}')`)
	waiting, err := m.Waiting(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range waiting {
		if isOver := b.Wait == 0; isOver != (b.Lane == chat(3)) {
			t.Errorf("lane %+v waits for %v", b.Lane, b.Wait)
		}
	}
	if turn := m.turn(t, chat(1)); turn.Message != nil || turn.Wait <= 0 {
		t.Errorf("a notice that has just failed: %+v", turn)
	}
	r := failed(m.mustTake(t, 3, 2, 4), outbox.Unreachable)
	r.Pause = time.Minute
	m.finish(t, r)
	if turn := m.turn(t, chat(3)); turn.Message != nil || turn.Wait > time.Minute {
		t.Errorf("after a failure: %+v", turn)
	}
	exec(t, m.pool, `UPDATE outbox SET not_before = now()`)
	m.finish(t, sentAs(m.mustTake(t, 3, 2, 4), 7))
	exec(t, m.pool, `INSERT INTO outbox (chat_id, kind, payload) VALUES (3, 'k', '{}')`)
	m.mustTake(t, 3, 5)
}
