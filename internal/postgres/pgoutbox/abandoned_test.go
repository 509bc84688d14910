package pgoutbox_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"elobot/internal/outbox"
	"elobot/internal/postgres"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgoutbox"
)

// TestAbandonedAdvanceTakesNothing checks that, if the caller of Advance gives up and the cancel
// request does not reach the server, the abandoned statement takes nothing: the next call of
// Advance ends it first.
func TestAbandonedAdvanceTakesNothing(t *testing.T) {
	t.Parallel()
	m := newMail(t)
	dbtest.Define(t, m.Pool, "wait", `
		CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql
		    AS 'BEGIN PERFORM pg_advisory_xact_lock_shared(77); RETURN NULL; END';
		CREATE TRIGGER wait BEFORE UPDATE ON outbox FOR EACH STATEMENT EXECUTE FUNCTION wait();
		ALTER FUNCTION wait() SET lock_timeout = 0`)
	holder := dbtest.Begin(t, m.Pool)
	dbtest.Exec(t, holder, `SELECT pg_advisory_xact_lock(77)`)
	p := dbtest.NewProxy(t, m.Pool.Config().ConnString())
	// Sessions of postgres.Open know their server process; sessions of dbtest.Open do not.
	pool, err := postgres.Open(t.Context(), p.URL, time.Minute, slog.New(slog.DiscardHandler))
	dbtest.Must(t, err)
	t.Cleanup(pool.Close)
	// Open two sessions now, because the proxy refuses connections later. So no cancel request can
	// reach the server.
	one, err := pool.Acquire(t.Context())
	dbtest.Must(t, err)
	two, err := pool.Acquire(t.Context())
	dbtest.Must(t, err)
	one.Release()
	two.Release()
	p.Away.Store(true)
	queue := pgoutbox.NewStore(pool)
	advance := func(ctx context.Context) (turns []outbox.Turn, err error) {
		return queue.Advance(ctx, 1, nil, []outbox.Lane{dbtest.Chat(2)}, dbtest.Bounds)
	}
	ctx, giveUp := context.WithCancel(t.Context())
	first := dbtest.Start(func() error {
		_, err := advance(ctx)
		return err
	})
	dbtest.Await(t, m.Pool, dbtest.Blocked)
	stale := dbtest.Value[int](t, m.Pool, `
		SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0`)
	giveUp()
	if err := dbtest.Receive(t, first); err == nil {
		t.Fatal("the step was not given up")
	}
	var turns []outbox.Turn
	second := dbtest.Start(func() (err error) {
		turns, err = advance(t.Context())
		return err
	})
	dbtest.Await(t, m.Pool, `SELECT EXISTS (SELECT FROM pg_stat_activity
		WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0 AND pid <> $1)`, stale)
	if dbtest.Value[bool](t, m.Pool, `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $1)`, stale) {
		t.Error("the abandoned step is still running next to the next one")
	}
	dbtest.Must(t, holder.Rollback(t.Context()))
	dbtest.Must(t, dbtest.Receive(t, second))
	if got := m.Row(t, 2); got != "sending attempts 1 duplicates 0 message 0 error  finished false" {
		t.Errorf("notice 2 is %s", got)
	}
	m.Finish(t, dbtest.SentAs(*turns[0].Message, 7))
	if got := m.Row(t, 2); got != "sent attempts 1 duplicates 0 message 7 error  finished true" {
		t.Errorf("then notice 2 is %s", got)
	}
}
