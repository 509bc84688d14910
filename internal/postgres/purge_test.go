package postgres_test

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres"
	"elobot/internal/postgres/dbtest"
)

// oldKeys inserts n keys that are old enough to be purged.
func oldKeys(t *testing.T, pool *pgxpool.Pool, n int) {
	t.Helper()
	dbtest.Exec(t, pool, `
		INSERT INTO handled_commands (key, handled_at)
		SELECT 'old:' || n, now() - interval '73 hours' FROM generate_series(1, $1) n`, n)
}

func TestPurgeByAge(t *testing.T) {
	t.Parallel()
	pool := pgtest.Borrow(t).Pool
	for key, age := range map[string]string{
		"new": "0", "a day": "24 hours", "not yet": "71 hours 59 minutes", "just": "72 hours 1 second", "long ago": "1 year",
	} {
		dbtest.Exec(t, pool, `INSERT INTO handled_commands (key, handled_at) VALUES ($1, now() - $2::text::interval)`,
			key, age)
	}
	dbtest.Purge(t, pool, 2)
	left := dbtest.Values[string](t, pool, `SELECT key FROM handled_commands ORDER BY key`)
	if want := []string{"a day", "new", "not yet"}; !slices.Equal(left, want) {
		t.Errorf("the rows left are %v, want %v", left, want)
	}
	dbtest.Purge(t, pool, 0)
}

// TestPurgeInBatches checks that a transaction removes at most 10,000 keys. After a full batch,
// another batch follows.
func TestPurgeInBatches(t *testing.T) {
	t.Parallel()
	rec := &dbtest.Recorder{}
	pool := dbtest.Open(t, pgtest.New(t), func(c *pgxpool.Config) { c.ConnConfig.Tracer = rec })
	for old, batches := range map[int]int{0: 1, 9_999: 1, 10_000: 2} {
		oldKeys(t, pool, old)
		dbtest.Exec(t, pool, `INSERT INTO handled_commands (key) VALUES ('new:' || $1::integer)`, old)
		rec.Take()
		dbtest.Purge(t, pool, int64(old))
		var begun, deleted int
		for _, s := range rec.Take() {
			switch {
			case s.SQL == "begin":
				begun++
			case strings.HasPrefix(s.SQL, "DELETE FROM handled_commands"):
				deleted++
			}
		}
		begun -= 8 // the transactions of the other purges
		if begun != batches || deleted != batches {
			t.Errorf("%d keys were removed in %d transactions by %d statements, want %d", old, begun, deleted, batches)
		}
	}
	if left := dbtest.Value[int](t, pool, `SELECT count(*) FROM handled_commands`); left != 3 {
		t.Errorf("%d keys are left, want 3", left)
	}
}

// TestPurgeOfTheOutbox checks that finished notices are purged after a week, and callback answers
// that are not dead after an hour. A dead notice stays at least as long as its dead letter.
func TestPurgeOfTheOutbox(t *testing.T) {
	t.Parallel()
	pool := pgtest.Borrow(t).Pool
	dbtest.Exec(t, pool, `
		INSERT INTO chats (telegram_chat_id, kind) VALUES (-100, 'group');
		INSERT INTO outbox (chat_id, kind, payload, state, created_at, finished_at) VALUES
		    (1, 'sent', '{}', 'sent', now() - interval '1 year', now() - interval '167 hours'),
		    (1, 'sent long ago', '{}', 'sent', now() - interval '1 year', now() - interval '169 hours'),
		    (1, 'waits', '{}', 'planned', now() - interval '1 year', NULL),
		    (1, 'expired long ago', '{}', 'expired', now() - interval '1 year', now() - interval '169 hours'),
		    (1, 'dead', '{}', 'dead', now() - interval '1 year', now() - interval '169 hours'),
		    (1, 'dropped', '{}', 'dead', now() - interval '1 year', now() - interval '169 hours'),
		    (1, 'dead and letter purged', '{}', 'dead', now() - interval '1 year', now() - interval '721 hours');
		INSERT INTO outbox (chat_id, kind, payload, action, callback_query_id, state, finished_at) VALUES
		    (1, 'press answered', '{}', 'callback_answer', 'q', 'sent', now() - interval '59 minutes'),
		    (1, 'press answered long ago', '{}', 'callback_answer', 'q', 'sent', now() - interval '61 minutes'),
		    (1, 'press too old', '{}', 'callback_answer', 'q', 'expired', now() - interval '61 minutes'),
		    (1, 'press not answered', '{}', 'callback_answer', 'q', 'dead', now() - interval '61 minutes');
		INSERT INTO dead_letters
		    (kind, update_id, outbox_id, payload, last_error, attempts, first_seen_at, last_seen_at) VALUES
		    ('notice', NULL, 5, '', 'why', 1, now() - interval '1 year', now() - interval '169 hours'),
		    ('notice', NULL, 7, '', 'why', 1, now() - interval '1 year', now() - interval '721 hours'),
		    ('update', 8, NULL, '', 'why', 1, now() - interval '1 year', now() - interval '719 hours'),
		    ('update', 9, NULL, '', 'why', 1, now() - interval '1 year', now() - interval '721 hours')`)
	dbtest.Purge(t, pool, 8)
	left := dbtest.Values[string](t, pool, `
		SELECT kind FROM outbox
		UNION ALL SELECT coalesce(outbox_id, update_id)::text FROM dead_letters ORDER BY 1`)
	dbtest.Equal(t, "left", []string{"5", "8", "dead", "press answered", "press not answered", "sent", "waits"}, left)
	dbtest.Purge(t, pool, 0)
}

// TestPurgeOfParkedChats checks that, in parked chats, planned notices past their deadline expire.
// Notices in other chats are left to the dispatcher.
func TestPurgeOfParkedChats(t *testing.T) {
	t.Parallel()
	pool := pgtest.Borrow(t).Pool
	dbtest.Exec(t, pool, `
		INSERT INTO chats (telegram_chat_id, kind, parked_at) VALUES (1, 'private', now()), (2, 'private', NULL);
		INSERT INTO outbox (chat_id, kind, payload, state, expires_at) VALUES
		    (1, 'late', '{}', 'planned', now()), (1, 'on its way', '{}', 'sending', now()),
		    (1, 'not late', '{}', 'planned', now() + interval '1 hour'), (1, 'never late', '{}', 'planned', NULL),
		    (2, 'late elsewhere', '{}', 'planned', now())`)
	dbtest.Purge(t, pool, 1)
	ended := dbtest.Values[string](t, pool, `
		SELECT concat_ws(' ', kind, state, last_error) FROM outbox WHERE finished_at IS NOT NULL`)
	dbtest.Equal(t, "expired", []string{"late expired too late"}, ended)
	dbtest.Purge(t, pool, 0)
}

// TestRedeliveryAfterPurge checks that a match keeps its key. So a redelivery after the purge of
// the handled command changes nothing.
func TestRedeliveryAfterPurge(t *testing.T) {
	t.Parallel()
	w := dbtest.NewWorld(t)
	w.Record(t, "m1", dbtest.Alice, dbtest.Bob, 3, 1)
	w.Record(t, "m2", dbtest.Bob, dbtest.Alice, 2, 2)
	dbtest.Exec(t, w.Pool, `UPDATE handled_commands SET handled_at = now() - interval '73 hours'`)
	dbtest.Purge(t, w.Pool, 2)
	before := w.Contents(t)
	w.Record(t, "m1", dbtest.Alice, dbtest.Bob, 3, 1)
	dbtest.Equal(t, "the redelivery changed something", before, w.Contents(t))
}

// TestPurgerRuns checks that KeepPurging purges at once, logs a failure, and returns nil when its
// context ends, even after a failure.
func TestPurgerRuns(t *testing.T) {
	t.Parallel()
	pool := pgtest.Borrow(t).Pool
	oldKeys(t, pool, 3)
	dbtest.Exec(t, pool, `INSERT INTO chats (telegram_chat_id, kind, parked_at) VALUES (1, 'private', now())`)
	dbtest.Exec(t, pool, `INSERT INTO outbox (chat_id, kind, payload, expires_at) VALUES (1, 'k', '{}', now())`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var log bytes.Buffer
	done := dbtest.Start(func() error {
		return postgres.KeepPurging(ctx, pool, nil, slog.New(slog.NewTextHandler(&log, nil)))
	})
	// The outbox is purged last, so the keys are purged too by then.
	dbtest.Await(t, pool, `SELECT NOT EXISTS (SELECT FROM outbox WHERE finished_at IS NULL)`)
	cancel()
	dbtest.Must(t, dbtest.Receive(t, done))
	if n := dbtest.Value[int](t, pool, `SELECT count(*) FROM handled_commands`); n != 0 {
		t.Errorf("%d keys are left", n)
	}
	if logged := log.String(); strings.Contains(logged, "WARN") {
		t.Errorf("logged: %s", logged)
	}
	if err := postgres.KeepPurging(ctx, pool, nil, slog.New(slog.DiscardHandler)); err != nil {
		t.Errorf("after the end of its context: %v", err)
	}

	dbtest.Exec(t, pool, `ALTER TABLE handled_commands RENAME TO somewhere_else`)
	logged := make(chan struct{}, 1)
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	done = dbtest.Start(func() error {
		return postgres.KeepPurging(ctx, pool, nil, slog.New(onLog(func() { logged <- struct{}{} })))
	})
	dbtest.Receive(t, logged)
	cancel()
	if err := dbtest.Receive(t, done); err != nil {
		t.Errorf("after a failure: %v", err)
	}
}

// TestPurgerStopsInTheMiddle checks that KeepPurging stops without waiting for a statement that is
// blocked by a lock, and logs nothing.
func TestPurgerStopsInTheMiddle(t *testing.T) {
	t.Parallel()
	pool := pgtest.Borrow(t).Pool
	oldKeys(t, pool, 10)
	hold := dbtest.Begin(t, pool)
	dbtest.Exec(t, hold, `SELECT key FROM handled_commands FOR UPDATE`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	log := slog.New(onLog(func() { t.Error("something was logged") }))
	done := dbtest.Start(func() error { return postgres.KeepPurging(ctx, pool, nil, log) })
	dbtest.Await(t, pool, dbtest.Blocked)
	begun := time.Now()
	cancel()
	if err := dbtest.Receive(t, done); err != nil {
		t.Errorf("error is %v", err)
	}
	if took := time.Since(begun); took > dbtest.MaxWait/3 {
		t.Errorf("it took %v to stop", took)
	}
	if left := dbtest.Value[int](t, pool, `SELECT count(*) FROM handled_commands`); left != 10 {
		t.Errorf("%d keys are left, want 10", left)
	}
}
