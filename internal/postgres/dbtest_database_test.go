package postgres_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/postgres"
)

// maxWait bounds every wait of a test; no wait takes that long unless something is wrong.
const maxWait = time.Minute

// open returns a pool of a few connections, whose configuration adjust may change.
func open(t *testing.T, url string, adjust ...func(*pgxpool.Config)) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	config.MaxConns = 8
	for _, a := range adjust {
		a(config)
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

func exec(t *testing.T, pool *pgxpool.Pool, sql string, args ...any) {
	t.Helper()
	if _, err := pool.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func value[T any](t *testing.T, pool *pgxpool.Pool, sql string, args ...any) T {
	t.Helper()
	rows, err := pool.Query(t.Context(), sql, args...)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	v, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[T])
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

func values[T any](t *testing.T, pool *pgxpool.Pool, sql string, args ...any) []T {
	t.Helper()
	rows, err := pool.Query(t.Context(), sql, args...)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[T])
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return all
}

// begin begins a transaction that does not outlive the test.
func begin(t *testing.T, pool *pgxpool.Pool) pgx.Tx {
	t.Helper()
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tx.Rollback(context.Background()); err != nil && !errors.Is(err, pgx.ErrTxClosed) {
			t.Error(err)
		}
	})
	return tx
}

// await polls until the condition, a query that yields a boolean, holds.
func await(t *testing.T, pool *pgxpool.Pool, sql string, args ...any) {
	t.Helper()
	deadline := time.After(maxWait)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !value[bool](t, pool, sql, args...) {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("condition never held: %s", sql)
		}
	}
}

// receive waits for a value from another goroutine.
func receive[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(maxWait):
		t.Fatal("received nothing")
		panic("unreachable")
	}
}

// start runs f in a goroutine and returns the channel of its error.
func start(f func() error) <-chan error {
	result := make(chan error, 1)
	go func() { result <- f() }()
	return result
}

// blocked is whether a session in this database waits for a lock.
const blocked = `SELECT EXISTS (SELECT FROM pg_stat_activity
	WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0)`

// define creates a function, and triggers that call it, for the duration of the test.
func define(t *testing.T, pool *pgxpool.Pool, function, sql string) {
	t.Helper()
	exec(t, pool, sql)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), maxWait)
		defer cancel()
		if _, err := pool.Exec(ctx, "DROP FUNCTION "+function+" CASCADE"); err != nil {
			t.Error(err)
		}
	})
}

// purge purges, and checks how many rows that removes.
func purge(t *testing.T, pool *pgxpool.Pool, want int64) {
	t.Helper()
	if removed, err := newPurger(pool).Purge(t.Context()); err != nil || removed != want {
		t.Errorf("%d rows removed, want %d: %v", removed, want, err)
	}
}

// shortWait makes statements wait for a lock for a thirtieth of the usual time.
const shortWait = "SET lock_timeout = '50ms'"

// openPools opens all pools of a running bot.
func openPools(t *testing.T, url string) postgres.Pools {
	t.Helper()
	pools, err := postgres.OpenPools(t.Context(), url, maxWait, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pools.Close)
	return pools
}
