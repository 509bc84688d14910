package postgres_test

import (
	"testing"
	"time"

	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres"
	"elobot/internal/postgres/dbtest"
)

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
	dbtest.Exec(t, pool, `UPDATE webhook_instances SET expires_at = now() WHERE name = 'b'`)
	renew("the second has vanished", c, true)
	renew("and is back", b, false)
	renew("the second is back", c, false)
	dbtest.Exec(t, pool, `UPDATE webhook_instances SET expires_at = now() - interval '119 s' WHERE name = 'b'`)
	renew("the second has vanished a while ago", c, true)
	dbtest.Exec(t, pool, `UPDATE webhook_instances SET expires_at = now() - interval '121 s' WHERE name = 'b'`)
	renew("the second has vanished long ago", c, false)
	dbtest.Exec(t, pool, `UPDATE webhook_instances SET renewed_at = now() + interval '1 h', expires_at = now() + interval '2 h'`)
	renew("the clock was set back", b, false)
	dbtest.Exec(t, pool, `UPDATE webhook_instances SET started_at = now() + interval '2 h', renewed_at = now() + interval '2 h',
		expires_at = now() + interval '3 h'`)
	renew("the clock was set back further", a, false)
	renew("the other one is back", b, true)
	renew("and known to the first", a, false)
	renew("as the first is to it", b, false)
}
