package postgres_test

import (
	"errors"
	"testing"
	"time"

	"elobot/internal/outbox"
	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres"
)

// TestUpdateAttempts: attempts that have not returned are counted by update; a finished update is forgotten.
func TestUpdateAttempts(t *testing.T) {
	t.Parallel()
	pool := pgtest.Borrow(t).Pool
	lease := postgres.NewLease(pool, "leader", "a", time.Hour)
	acquire(t, lease, true)
	a := postgres.NewUpdateAttempts(pool, lease)
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
	lost(0)
	do(a.Begin(t.Context(), 5))
	do(a.Begin(t.Context(), 5))
	do(a.Begin(t.Context(), 6))
	lost(2)
	do(a.End(t.Context(), 5, false))
	lost(1)
	do(a.End(t.Context(), 5, false))
	lost(0)
	do(a.Begin(t.Context(), 5))
	do(a.Begin(t.Context(), 5))
	do(a.End(t.Context(), 5, true))
	lost(0)

	exec(t, pool, `UPDATE leases SET epoch = epoch + 1`)
	if err := a.Begin(t.Context(), 5); !errors.Is(err, outbox.ErrLeaseLost) {
		t.Errorf("without the lease an attempt begins: %v", err)
	}
	do(a.End(t.Context(), 6, false))
	if n := value[int](t, pool, `SELECT count(*) FROM update_attempts`); n != 0 {
		t.Errorf("%d rows are left", n)
	}
	exec(t, pool, `INSERT INTO update_attempts VALUES (7, 8, now(), now() - interval '73 hours'), (8, 8, now(), now() - interval '71 hours')`)
	purge(t, pool, 1)
}

// TestWebhookInstances: for two minutes an instance learns that another one has vanished. An older instance that has
// not renewed since this one started counts as vanished too.
func TestWebhookInstances(t *testing.T) {
	t.Parallel()
	pool := pgtest.Borrow(t).Pool
	instance := func(name string) *postgres.WebhookInstance {
		return postgres.NewWebhookInstance(pool, name, time.Hour)
	}
	a, b, c := instance("a"), instance("b"), instance("c")
	renew := func(what string, w *postgres.WebhookInstance, want bool) {
		t.Helper()
		if vanished, err := w.Renew(t.Context()); err != nil || vanished != want {
			t.Errorf("%s: another has vanished: %v, want %v (%v)", what, vanished, want, err)
		}
	}
	renew("alone", a, false)
	renew("the first has not renewed since the second started", b, true)
	renew("the second is newer", a, false)
	renew("the first has renewed", b, false)
	if err := a.Leave(t.Context()); err != nil {
		t.Error(err)
	}
	renew("the first has stopped", b, false)
	renew("the second may have vanished", c, true)
	exec(t, pool, `UPDATE webhook_instances SET expires_at = now() WHERE name = 'b'`)
	renew("the second has vanished", c, true)
	renew("and is back", b, false)
	renew("the second is back", c, false)
	exec(t, pool, `UPDATE webhook_instances SET expires_at = now() - interval '119 s' WHERE name = 'b'`)
	renew("the second has vanished a while ago", c, true)
	exec(t, pool, `UPDATE webhook_instances SET expires_at = now() - interval '121 s' WHERE name = 'b'`)
	renew("the second has vanished long ago", c, false)
	exec(t, pool, `UPDATE webhook_instances SET renewed_at = now() + interval '1 h', expires_at = now() + interval '2 h'`)
	renew("the clock was set back", b, false)
	exec(t, pool, `UPDATE webhook_instances SET started_at = now() + interval '2 h', renewed_at = now() + interval '2 h',
		expires_at = now() + interval '3 h'`)
	renew("the clock was set back further", a, false)
	renew("the other one is back", b, true)
	renew("and known to the first", a, false)
	renew("as the first is to it", b, false)
}
