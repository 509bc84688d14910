package postgres_test

import (
	"testing"

	"elobot/internal/outbox"
)

// TestCopiesAreToldAlone: what was perhaps sent and waits again is told by the same message as before. What was never
// tried has one of its own, so that it is not given up because of copies that others have.
func TestCopiesAreToldAlone(t *testing.T) {
	t.Parallel()
	m := newEmptyMail(t)
	m.results(t, 2)
	fail := func(class outbox.Class) {
		t.Helper()
		r := failed(m.mustTake(t, 1, 1, 2), class)
		r.Pause = 0
		m.finish(t, r)
	}
	for range 4 {
		fail(outbox.Ambiguous)
	}
	fail(outbox.Unreachable)
	m.results(t, 2)
	fail(outbox.Ambiguous)
	fail(outbox.Uncertain)
	next := m.mustTake(t, 1, 3, 4)
	if next.Row.PossibleDuplicates != 0 {
		t.Errorf("notice 3 was perhaps sent %d times", next.Row.PossibleDuplicates)
	}
}
