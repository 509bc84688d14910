package postgres_test

import (
	"testing"
	"time"

	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres"
	"elobot/internal/postgres/dbtest"
)

// TestWebhookInstances: for two minutes an instance learns that another one has vanished. Of an older instance that has
// not renewed since this one started it knows nothing.
func TestWebhookInstances(t *testing.T) {
	t.Parallel()
	pool := pgtest.Borrow(t).Pool
	instance := func(name string) *postgres.WebhookInstance {
		return postgres.NewWebhookInstance(pool, name, time.Hour)
	}
	a, b, c := instance("a"), instance("b"), instance("c")
	renew := func(what string, w *postgres.WebhookInstance, want postgres.Others) {
		t.Helper()
		if others, err := w.Renew(t.Context()); err != nil || others != want {
			t.Errorf("%s: the others are %v, want %v (%v)", what, others, want, err)
		}
	}
	const alive, unknown, vanished = postgres.OthersAlive, postgres.OthersUnknown, postgres.OthersVanished
	renew("alone", a, alive)
	renew("the first has not renewed since the second started", b, unknown)
	renew("the second is newer", a, alive)
	renew("the first has renewed", b, alive)
	if err := a.Leave(t.Context()); err != nil {
		t.Error(err)
	}
	renew("the first has stopped", b, alive)
	renew("the second may have vanished", c, unknown)
	dbtest.Exec(t, pool, `UPDATE webhook_instances SET expires_at = now() WHERE name = 'b'`)
	renew("the second has vanished", c, vanished)
	renew("and is back", b, alive)
	renew("the second is back", c, alive)
	dbtest.Exec(t, pool, `UPDATE webhook_instances SET expires_at = now() - interval '119 s' WHERE name = 'b'`)
	renew("the second has vanished a while ago", c, vanished)
	dbtest.Exec(t, pool, `UPDATE webhook_instances SET expires_at = now() - interval '121 s' WHERE name = 'b'`)
	renew("the second has vanished long ago", c, alive)
	dbtest.Exec(t, pool, `UPDATE webhook_instances SET renewed_at = now() + interval '1 h', expires_at = now() + interval '2 h'`)
	renew("the clock was set back", b, alive)
	dbtest.Exec(t, pool, `UPDATE webhook_instances SET started_at = now() + interval '2 h', renewed_at = now() + interval '2 h',
		expires_at = now() + interval '3 h'`)
	renew("the clock was set back further", a, alive)
	renew("the other one is back", b, unknown)
	renew("and known to the first", a, alive)
	renew("as the first is to it", b, alive)
}
