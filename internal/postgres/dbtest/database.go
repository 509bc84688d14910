package dbtest

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres"
)

// MaxWait limits the waits of tests. A wait takes that long only if something is wrong.
const MaxWait = time.Minute

// Open returns a pool of up to 8 connections. The pool closes when the test ends. The adjust
// functions may change its configuration.
func Open(t *testing.T, url string, adjust ...func(*pgxpool.Config)) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(url)
	Must(t, err)
	config.MaxConns = 8
	for _, a := range adjust {
		a(config)
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	Must(t, err)
	t.Cleanup(pool.Close)
	return pool
}

// LikeCommands is a function for Open that makes sessions plan statements as the bot's sessions for
// commands do; see postgres.Planning.
func LikeCommands(c *pgxpool.Config) {
	c.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, postgres.Planning)
		return err
	}
}

// Must fails the test at once unless err is nil.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Equal checks that got equals want. The argument what names the values in the error.
func Equal(t testing.TB, what string, want, got any, options ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, options...); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// Exec executes a statement on a pool, a connection or a transaction.
func Exec(
	t *testing.T, on interface {
		Exec(context.Context, string, ...any) (pgconn.CommandTag, error)
	}, sql string, args ...any,
) {
	t.Helper()
	if _, err := on.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// Value returns the value of a query with one row and one column.
func Value[T any](t *testing.T, pool *pgxpool.Pool, sql string, args ...any) T {
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

// Values returns the values of a query with one column.
func Values[T any](t *testing.T, pool *pgxpool.Pool, sql string, args ...any) []T {
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

// Begin begins a transaction, which is rolled back at the end of the test if it is still open.
func Begin(t *testing.T, pool *pgxpool.Pool) pgx.Tx {
	t.Helper()
	tx, err := pool.Begin(t.Context())
	Must(t, err)
	t.Cleanup(func() {
		if err := tx.Rollback(context.Background()); err != nil && !errors.Is(err, pgx.ErrTxClosed) {
			t.Error(err)
		}
	})
	return tx
}

// Await polls until a query returns true. It fails the test after MaxWait.
func Await(t *testing.T, pool *pgxpool.Pool, sql string, args ...any) {
	t.Helper()
	deadline := time.After(MaxWait)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !Value[bool](t, pool, sql, args...) {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("condition never held: %s", sql)
		}
	}
}

// Receive receives a value from a channel. It fails the test after MaxWait.
func Receive[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(MaxWait):
		t.Fatal("received nothing")
		panic("unreachable")
	}
}

// Start runs f in a goroutine, and returns a channel that receives the result of f.
func Start(f func() error) <-chan error {
	result := make(chan error, 1)
	go func() { result <- f() }()
	return result
}

// Blocked is a query for Await. It returns true if a session in this database is waiting for a
// lock.
const Blocked = `SELECT EXISTS (SELECT FROM pg_stat_activity
	WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0)`

// Define runs SQL that creates a function and triggers that call it. The function and the triggers
// are dropped when the test ends.
func Define(t *testing.T, pool *pgxpool.Pool, function, sql string) {
	t.Helper()
	Exec(t, pool, sql)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), MaxWait)
		defer cancel()
		if _, err := pool.Exec(ctx, "DROP FUNCTION "+function+" CASCADE"); err != nil {
			t.Error(err)
		}
	})
}

// Purge calls postgres.Purge, and checks that it removes or expires exactly the given number of
// rows.
func Purge(t *testing.T, pool *pgxpool.Pool, want int64) {
	t.Helper()
	if removed, err := postgres.Purge(t.Context(), pool, nil); err != nil || removed != want {
		t.Errorf("%d rows removed, want %d: %v", removed, want, err)
	}
}

// ShortWait returns the database with another pool, whose statements wait at most 50 ms for each
// lock.
func ShortWait(t *testing.T, d *pgtest.Database) *pgtest.Database {
	t.Helper()
	return &pgtest.Database{URL: d.URL, Pool: Open(t, d.URL, func(c *pgxpool.Config) {
		*c = *d.Pool.Config()
		c.ConnConfig.RuntimeParams["lock_timeout"] = "50ms"
	})}
}

// OpenPools opens all pools of a running bot, and closes them when the test ends.
func OpenPools(t *testing.T, url string) postgres.Pools {
	t.Helper()
	pools, err := postgres.OpenPools(t.Context(), url, MaxWait, slog.New(slog.DiscardHandler))
	Must(t, err)
	t.Cleanup(pools.Close)
	return pools
}
