package pgintake_test

import (
	"errors"
	"testing"
	"time"

	"elobot/internal/intake"
	"elobot/internal/outbox"
	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgintake"
)

// TestUpdateAttempts checks that attempts that have not returned are counted for each update, until
// one of them returns. An attempt is open for at most ten minutes, and only until its update
// becomes a dead letter. Begin needs the lease, and End does not. Purge removes attempts after 72
// hours.
func TestUpdateAttempts(t *testing.T) {
	t.Parallel()
	pool := pgtest.Borrow(t).Pool
	lease := postgres.NewLease(pool, "leader", "a", time.Hour)
	dbtest.Acquire(t, lease, true)
	a := pgintake.NewUpdateAttempts(pool, lease)
	lost := func(want int) {
		t.Helper()
		n, first, err := a.Lost(t.Context(), 5)
		if err != nil || n != want || first.IsZero() != (want == 0) {
			t.Errorf("%d attempts are lost since %v, want %d: %v", n, first, want, err)
		}
	}
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	open := func(what string, want bool) {
		t.Helper()
		if got, err := a.Open(t.Context()); err != nil || got != want {
			t.Errorf("%s: an attempt is open: %t, %v", what, got, err)
		}
	}
	lost(0)
	open("none", false)
	do(a.Begin(t.Context(), 5))
	do(a.Begin(t.Context(), 5))
	do(a.Begin(t.Context(), 6))
	lost(2)
	do(a.End(t.Context(), 5))
	lost(0)
	open("another update's", true)
	dbtest.Exec(t, pool, `UPDATE update_attempts SET last_begun_at = now() - interval '601 s'`)
	open("long ago", false)
	do(a.Begin(t.Context(), 6))
	open("and again", true)
	do(pgintake.NewDeadLetters(pool).Save(t.Context(), intake.DeadLetter{
		Update: intake.Update{ID: 6, Raw: []byte("{}")}, LastError: "why", Attempts: 8,
	}))
	open("a dead letter's", false)

	dbtest.Exec(t, pool, `UPDATE leases SET epoch = epoch + 1`)
	if err := a.Begin(t.Context(), 5); !errors.Is(err, outbox.ErrLeaseLost) {
		t.Errorf("without the lease an attempt begins: %v", err)
	}
	do(a.End(t.Context(), 6))
	if n := dbtest.Value[int](t, pool, `SELECT count(*) FROM update_attempts`); n != 0 {
		t.Errorf("%d rows are left", n)
	}
	dbtest.Exec(t, pool, `INSERT INTO update_attempts
		VALUES (7, 8, now(), now() - interval '73 hours'), (8, 8, now(), now() - interval '71 hours')`)
	dbtest.Purge(t, pool, 1)
}
