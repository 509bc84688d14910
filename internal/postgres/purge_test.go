package postgres_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres"
)

func newPurger(pool *pgxpool.Pool) *postgres.Purger {
	return postgres.NewPurger(pool, slog.New(slog.DiscardHandler))
}

// oldKeys inserts n keys that are old enough to be removed.
func oldKeys(t *testing.T, pool *pgxpool.Pool, n int) {
	t.Helper()
	exec(t, pool, `
		INSERT INTO handled_commands (key, handled_at)
		SELECT 'old:' || n, now() - interval '73 hours' FROM generate_series(1, $1) n`, n)
}

func TestPurgeByAge(t *testing.T) {
	t.Parallel()
	pool := pgtest.Borrow(t).Pool
	for key, age := range map[string]string{
		"new": "0", "a day": "24 hours", "not yet": "71 hours 59 minutes", "just": "72 hours 1 second", "long ago": "1 year",
	} {
		exec(t, pool, `INSERT INTO handled_commands (key, handled_at) VALUES ($1, now() - $2::text::interval)`, key, age)
	}
	purge(t, pool, 2)
	left := values[string](t, pool, `SELECT key FROM handled_commands ORDER BY key`)
	if want := []string{"a day", "new", "not yet"}; !slices.Equal(left, want) {
		t.Errorf("the rows left are %v, want %v", left, want)
	}
	purge(t, pool, 0)
}

// TestPurgeCallbackAnswers: callback answers are removed after an hour, all other sent notices after a week.
func TestPurgeCallbackAnswers(t *testing.T) {
	t.Parallel()
	pool := pgtest.Borrow(t).Pool
	exec(t, pool, `INSERT INTO chats (telegram_chat_id, kind) VALUES (-100, 'group')`)
	add := func(press *string, state, age string) {
		t.Helper()
		exec(t, pool, `
			INSERT INTO outbox (chat_id, kind, payload, action, callback_query_id, state, finished_at)
			VALUES (1, 'refusal', '{}', CASE WHEN $1::text IS NULL THEN 'send' ELSE 'toast' END, $1, $2, now() - $3::text::interval)`,
			press, state, age)
	}
	press := "press"
	add(&press, "sent", "61 minutes")
	add(&press, "expired", "61 minutes")
	add(&press, "sent", "59 minutes")
	add(&press, "dead", "61 minutes")
	add(nil, "sent", "61 minutes")
	purge(t, pool, 2)
	left := values[string](t, pool, `SELECT action || ' ' || state FROM outbox ORDER BY id`)
	if want := []string{"toast sent", "toast dead", "send sent"}; !slices.Equal(left, want) {
		t.Errorf("the rows left are %v, want %v", left, want)
	}
}

// TestPurgeInBatches: no transaction removes more than 10,000 keys.
func TestPurgeInBatches(t *testing.T) {
	t.Parallel()
	rec := &recorder{}
	pool := open(t, pgtest.New(t), func(c *pgxpool.Config) { c.ConnConfig.Tracer = rec })
	for old, batches := range map[int]int{0: 1, 9_999: 1, 10_000: 2} {
		oldKeys(t, pool, old)
		exec(t, pool, `INSERT INTO handled_commands (key) VALUES ('new:' || $1::integer)`, old)
		rec.take()
		purge(t, pool, int64(old))
		var begun, deleted int
		for _, s := range rec.take() {
			switch {
			case s.sql == "begin":
				begun++
			case strings.HasPrefix(s.sql, "DELETE FROM handled_commands"):
				deleted++
			}
		}
		begun -= 5 // the transactions of the other purges
		if begun != batches || deleted != batches {
			t.Errorf("%d keys were removed in %d transactions by %d statements, want %d", old, begun, deleted, batches)
		}
	}
	if left := value[int](t, pool, `SELECT count(*) FROM handled_commands`); left != 3 {
		t.Errorf("%d keys are left, want 3", left)
	}
}

// TestPurgeLeavesItToTheOther: while one instance purges, another does nothing and does not wait.
func TestPurgeLeavesItToTheOther(t *testing.T) {
	t.Parallel()
	pool := pgtest.Borrow(t).Pool
	oldKeys(t, pool, 10)
	slow := begin(t, pool)
	if _, err := slow.Exec(t.Context(), `SELECT key FROM handled_commands FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	first := start(func() error {
		_, err := newPurger(pool).Purge(t.Context())
		return err
	})
	await(t, pool, blocked)
	second := start(func() error {
		removed, err := newPurger(pool).Purge(t.Context())
		if err == nil && removed != 0 {
			err = fmt.Errorf("%d keys removed", removed)
		}
		return err
	})
	if err := receive(t, second); err != nil {
		t.Error(err)
	}
	if err := slow.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := receive(t, first); err != nil {
		t.Fatal(err)
	}
	if left := value[int](t, pool, `SELECT count(*) FROM handled_commands`); left != 0 {
		t.Errorf("%d keys are left", left)
	}
}

// TestPurgeOfTheOutbox: finished notices are removed after a week, dead ones together with their dead letters.
func TestPurgeOfTheOutbox(t *testing.T) {
	t.Parallel()
	pool := pgtest.Borrow(t).Pool
	exec(t, pool, `
		INSERT INTO chats (telegram_chat_id, kind) VALUES (-100, 'group');
		INSERT INTO outbox (chat_id, kind, payload, state, created_at, finished_at) VALUES
		    (1, 'sent', '{}', 'sent', now() - interval '1 year', now() - interval '167 hours'),
		    (1, 'sent long ago', '{}', 'sent', now() - interval '1 year', now() - interval '169 hours'),
		    (1, 'waits', '{}', 'planned', now() - interval '1 year', NULL),
		    (1, 'expired long ago', '{}', 'expired', now() - interval '1 year', now() - interval '169 hours'),
		    (1, 'dead', '{}', 'dead', now() - interval '1 year', now() - interval '169 hours'),
		    (1, 'dropped', '{}', 'dead', now() - interval '1 year', now() - interval '169 hours'),
		    (1, 'dead and letter purged', '{}', 'dead', now() - interval '1 year', now() - interval '721 hours');
		INSERT INTO dead_letters (kind, update_id, outbox_id, payload, last_error, attempts, first_seen_at, last_seen_at) VALUES
		    ('notice', NULL, 5, '', 'why', 1, now() - interval '1 year', now() - interval '169 hours'),
		    ('notice', NULL, 7, '', 'why', 1, now() - interval '1 year', now() - interval '721 hours'),
		    ('update', 8, NULL, '', 'why', 1, now() - interval '1 year', now() - interval '719 hours'),
		    ('update', 9, NULL, '', 'why', 1, now() - interval '1 year', now() - interval '721 hours')`)
	purge(t, pool, 6)
	left := values[string](t, pool, `SELECT kind FROM outbox UNION ALL SELECT coalesce(outbox_id, update_id)::text FROM dead_letters ORDER BY 1`)
	if diff := cmp.Diff([]string{"5", "8", "dead", "sent", "waits"}, left); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
	purge(t, pool, 0)
}

// TestPurgeOfParkedChats: late notices expire even if their lane is never advanced.
func TestPurgeOfParkedChats(t *testing.T) {
	t.Parallel()
	pool := pgtest.Borrow(t).Pool
	exec(t, pool, `
		INSERT INTO chats (telegram_chat_id, kind, parked_at) VALUES (1, 'private', now()), (2, 'private', NULL);
		INSERT INTO outbox (chat_id, kind, payload, state, expires_at) VALUES
		    (1, 'late', '{}', 'planned', now()), (1, 'on its way', '{}', 'sending', now()),
		    (1, 'not late', '{}', 'planned', now() + interval '1 hour'), (1, 'never late', '{}', 'planned', NULL),
		    (2, 'late elsewhere', '{}', 'planned', now())`)
	purge(t, pool, 1)
	ended := values[string](t, pool, `SELECT concat_ws(' ', kind, state, last_error) FROM outbox WHERE finished_at IS NOT NULL`)
	if diff := cmp.Diff([]string{"late expired too late"}, ended); diff != "" {
		t.Errorf("expired (-want +got):\n%s", diff)
	}
	purge(t, pool, 0)
}

// TestPurgeInBatchesOfTheOutbox removes more than one transaction may.
func TestPurgeInBatchesOfTheOutbox(t *testing.T) {
	t.Parallel()
	pool := pgtest.Borrow(t).Pool
	exec(t, pool, `
		INSERT INTO chats (telegram_chat_id, kind) VALUES (-100, 'group');
		INSERT INTO outbox (chat_id, kind, payload, state, finished_at)
		    SELECT 1, 'k', '{}', 'sent', now() - interval '1 year' FROM generate_series(1, 10001)`)
	purge(t, pool, 10_001)
}

// TestRedeliveryAfterPurge: a match keeps its key, so a very late redelivery neither records it again nor gets an
// answer.
func TestRedeliveryAfterPurge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.record(t, "m1", alice, bob, 3, 1)
	w.record(t, "m2", bob, alice, 2, 2)
	exec(t, w.pool, `UPDATE handled_commands SET handled_at = now() - interval '73 hours'`)
	purge(t, w.pool, 2)
	before, wakes := w.contents(t), w.wakes.Load()
	w.record(t, "m1", alice, bob, 3, 1)
	if diff := cmp.Diff(before, w.contents(t)); diff != "" {
		t.Errorf("the redelivery changed something:\n%s", diff)
	}
	if w.wakes.Load() != wakes {
		t.Error("the redelivery woke a lane")
	}
}

// TestPurgerRuns: Run purges at once, survives a failure, and ends with its context.
func TestPurgerRuns(t *testing.T) {
	t.Parallel()
	pool := pgtest.Borrow(t).Pool
	oldKeys(t, pool, 3)
	exec(t, pool, `INSERT INTO chats (telegram_chat_id, kind, parked_at) VALUES (1, 'private', now())`)
	exec(t, pool, `INSERT INTO outbox (chat_id, kind, payload, expires_at) VALUES (1, 'k', '{}', now())`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var log bytes.Buffer
	done := start(func() error { return postgres.NewPurger(pool, slog.New(slog.NewTextHandler(&log, nil))).Run(ctx) })
	await(t, pool, `SELECT NOT EXISTS (SELECT FROM outbox WHERE finished_at IS NULL)`) // the last purge
	cancel()
	if err := receive(t, done); err != nil {
		t.Fatal(err)
	}
	if n := value[int](t, pool, `SELECT count(*) FROM handled_commands`); n != 0 {
		t.Errorf("%d keys are left", n)
	}
	if logged := log.String(); strings.Contains(logged, "WARN") {
		t.Errorf("logged: %s", logged)
	}
	if err := newPurger(pool).Run(ctx); err != nil {
		t.Errorf("after the end of its context: %v", err)
	}

	exec(t, pool, `ALTER TABLE handled_commands RENAME TO somewhere_else`)
	logged := make(chan struct{}, 1)
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	done = start(func() error {
		return postgres.NewPurger(pool, slog.New(onLog(func() { logged <- struct{}{} }))).Run(ctx)
	})
	receive(t, logged)
	cancel()
	if err := receive(t, done); err != nil {
		t.Errorf("after a failure: %v", err)
	}
}

// TestPurgerStopsInTheMiddle: stopping does not wait for a statement that hangs, and logs nothing.
func TestPurgerStopsInTheMiddle(t *testing.T) {
	t.Parallel()
	pool := pgtest.Borrow(t).Pool
	oldKeys(t, pool, 10)
	hold := begin(t, pool)
	if _, err := hold.Exec(t.Context(), `SELECT key FROM handled_commands FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	log := slog.New(onLog(func() { t.Error("something was logged") }))
	done := start(func() error { return postgres.NewPurger(pool, log).Run(ctx) })
	await(t, pool, blocked)
	begun := time.Now()
	cancel()
	if err := receive(t, done); err != nil {
		t.Errorf("error is %v", err)
	}
	if took := time.Since(begun); took > maxWait/3 {
		t.Errorf("it took %v to stop", took)
	}
	if left := value[int](t, pool, `SELECT count(*) FROM handled_commands`); left != 10 {
		t.Errorf("%d keys are left, want 10", left)
	}
}
