package postgres_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"elobot/internal/outbox"
	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// TestHeldGroup: while somebody else holds a group's row for long, a result is given up like any other conflict, and the
// reporter told, before the intake would take the database for dead.
func TestHeldGroup(t *testing.T) {
	t.Parallel()
	pool, err := postgres.Open(t.Context(), pgtest.New(t), time.Second, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	store := postgres.NewStore(pool, func(outbox.Lane) {})
	service := ranking.NewService(store, slog.New(slog.DiscardHandler), ranking.Settings{ResultsPerMinute: -1})
	report := func(key string) error {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // as long as the intake tries at once
		defer cancel()
		o := ranking.Origin{Key: key, Chat: club, Sender: &alice, SentAt: time.Now()}
		return service.RecordMatch(ctx, o, aliceBeatsBob)
	}
	if err := report("1"); err != nil {
		t.Fatal(err)
	}
	holder := begin(t, pool)
	if _, err := holder.Exec(t.Context(), `SELECT FROM groups FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	if err := report("2"); err != nil {
		t.Fatal(err)
	}
	if err := holder.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := report("2"); err != nil { // it has been told that it was not recorded
		t.Fatal(err)
	}
	if got := value[string](t, pool, `
		SELECT (SELECT count(*) FROM matches) || ' ' || (SELECT payload->>'code' FROM outbox ORDER BY id DESC LIMIT 1)`,
	); got != "1 too_many_at_once" {
		t.Errorf("matches and the last answer: %s", got)
	}
}

// TestStoreUnavailable: a statement that takes too long means that the database is away only if it answers nothing else
// either.
func TestStoreUnavailable(t *testing.T) {
	t.Parallel()
	pool := open(t, pgtest.Empty(t))
	store := postgres.NewStore(pool, func(outbox.Lane) {})
	ctx, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	_, late := pool.Exec(ctx, `SELECT 1`)
	if !errors.Is(late, context.DeadlineExceeded) {
		t.Fatalf("error is %v", late)
	}
	if store.Unavailable(late) {
		t.Error("the database is there")
	}
	_, wrong := pool.Exec(t.Context(), `SELECT 1/0`)
	if wrong == nil || store.Unavailable(wrong) {
		t.Errorf("unavailable with %v", wrong)
	}
	nowhere := postgres.NewStore(open(t, closedPort(t)), func(outbox.Lane) {})
	if !nowhere.Unavailable(late) {
		t.Error("the database is away")
	}
}
