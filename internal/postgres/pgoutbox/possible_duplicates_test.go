package pgoutbox_test

import (
	"testing"

	"elobot/internal/outbox"
	"elobot/internal/postgres/dbtest"
)

// TestPossibleDuplicatesStayTogether checks that notices that may have been sent in one message are
// sent together again. Newer notices are not merged with them, so that the possible duplicates do
// not make the newer notices uncertain.
func TestPossibleDuplicatesStayTogether(t *testing.T) {
	t.Parallel()
	m := newEmptyMail(t)
	m.results(t, 2)
	fail := func(kind outbox.FailureKind) {
		t.Helper()
		r := dbtest.Failed(m.MustTake(t, 1, 1, 2), kind)
		r.Pause = 0
		m.Finish(t, r)
	}
	for range 4 {
		fail(outbox.Ambiguous)
	}
	fail(outbox.Unreachable)
	m.results(t, 2)
	fail(outbox.Ambiguous)
	fail(outbox.Uncertain)
	next := m.MustTake(t, 1, 3, 4)
	if next.Row.PossibleDuplicates != 0 {
		t.Errorf("notice 3 has %d possible duplicates", next.Row.PossibleDuplicates)
	}
}
