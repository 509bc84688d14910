package pgoutbox_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/notice"
	"elobot/internal/outbox"
	"elobot/internal/postgres/dbtest"
)

// unsupported returns the result for a message whose first items this release cannot render.
// covered is the number of these items, or 0 for all.
func unsupported(m outbox.Message, covered int) outbox.Result {
	r := dbtest.Failed(m, outbox.Unsupported)
	r.Covered, r.Pause = covered, 0
	return r
}

// TestSetAside checks that a notice that is set aside does not block its lane and is not counted as
// waiting. Resume puts it back at its old position. The take after which a notice is set aside does
// not count as an attempt.
func TestSetAside(t *testing.T) {
	t.Parallel()
	m := newEmptyMail(t)
	m.others(t, 5, notice.Outcome)
	m.Finish(t, unsupported(m.MustTake(t, 1, 1, 2, 3, 4, 5), 1))
	m.MustHaveRows(t,
		`concat_ws(' ', state, lane, attempts, failures, possible_duplicates, deferred_at IS NOT NULL, tried_at IS NOT NULL)`,
		"1 planned 3 0 0 0 t f", "2 planned 0 0 0 0 f f", "3 planned 0 0 0 0 f f", "4 planned 0 0 0 0 f f", "5 planned 0 0 0 0 f f")
	m.Finish(t, dbtest.SentAs(m.MustTake(t, 1, 2, 3, 4, 5), 7))
	m.MustWait(t)
	s, err := m.Survey(t.Context(), 9)
	if err != nil || s.Waiting != 0 || s.Dead != 0 || len(s.Largest) != 0 {
		t.Errorf("%+v, %v", s, err)
	}
	m.others(t, 1, notice.Outcome)
	if err := m.Resume(t.Context(), 2); !errors.Is(err, outbox.ErrLeaseLost) {
		t.Errorf("under another epoch: %v", err)
	}
	dbtest.Must(t, m.Resume(t.Context(), 1))
	m.MustWait(t, 1)
	m.Finish(t, dbtest.SentAs(m.MustTake(t, 1, 1, 6), 8))
	m.MustHaveRows(t, `concat_ws(' ', state, attempts)`,
		"1 sent 1", "2 sent 1", "3 sent 1", "4 sent 1", "5 sent 1", "6 sent 1")
}

// TestRepeatedMessageIsSetAside checks that a message that may have arrived is set aside as a
// whole, and keeps its count of possible duplicates.
func TestRepeatedMessageIsSetAside(t *testing.T) {
	t.Parallel()
	m := newEmptyMail(t)
	m.others(t, 3, notice.Outcome)
	m.MustTake(t, 1, 1, 2, 3)
	m.Finish(t, unsupported(m.MustTake(t, 1, 1, 2, 3), 0))
	m.MustHaveRows(t, `concat_ws(' ', state, lane, attempts, possible_duplicates, tried_at IS NOT NULL)`,
		"1 planned 3 1 1 t", "2 planned 3 1 1 f", "3 planned 3 1 1 f")
	dbtest.Must(t, m.Resume(t.Context(), 1))
	if taken := m.MustTake(t, 1, 1, 2, 3); taken.Row.PossibleDuplicates != 1 || taken.Row.Repeated {
		t.Errorf("taken %+v", taken.Row)
	}
}

// TestOldEditsAreNotResumed checks that Resume expires a page that was set aside if a newer page of
// the same message exists.
func TestOldEditsAreNotResumed(t *testing.T) {
	t.Parallel()
	m := newEmptyMail(t)
	for _, message := range []int{71, 72} {
		dbtest.Exec(t, m.Pool, aPage, message)
	}
	for range 2 {
		m.Finish(t, unsupported(*m.Turn(t, dbtest.Pages(1)).Message, 1))
	}
	dbtest.Exec(t, m.Pool, aPage, 71)
	m.Finish(t, dbtest.SentAs(*m.Turn(t, dbtest.Pages(1)).Message, 71))
	dbtest.Must(t, m.Resume(t.Context(), 1))
	m.MustHaveRows(t, `state`, "1 expired", "2 planned", "3 sent")
	left := dbtest.Values[int64](t, m.Pool, `SELECT id FROM outbox WHERE lane = 3 AND finished_at IS NULL`)
	if diff := cmp.Diff(0, len(left)); diff != "" {
		t.Errorf("%v are still set aside", left)
	}
}

// TestSetAsideExpires checks that a notice that is set aside expires at its deadline, or after a
// week if the notice has none. It leaves no dead letter.
func TestSetAsideExpires(t *testing.T) {
	t.Parallel()
	m := newEmptyMail(t)
	dbtest.Exec(t, m.Pool, `
		INSERT INTO outbox (chat_id, kind, payload, deferred_at, expires_at, created_at) VALUES
		    (1, 'k', '{}', now(), now() - interval '1 s', now()), (1, 'k', '{}', now(), now() + interval '1 hour', now()),
		    (1, 'k', '{}', now(), NULL, now() - interval '6 days'), (1, 'k', '{}', now(), NULL, now() - interval '8 days')`)
	dbtest.Purge(t, m.Pool, 2)
	m.MustHaveRows(t, `state`, "1 expired", "2 planned", "3 planned", "4 expired")
	if n := dbtest.Value[int](t, m.Pool, `SELECT count(*) FROM dead_letters`); n != 0 {
		t.Errorf("%d dead letters", n)
	}
	dbtest.Must(t, m.Resume(t.Context(), 1))
	m.MustTake(t, 1, 2, 3)
}
