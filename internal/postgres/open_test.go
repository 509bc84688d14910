package postgres_test

import (
	"context"
	"log/slog"
	"net/url"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres"
	"elobot/internal/postgres/dbtest"
)

func TestOpenWaitsForTheDatabase(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	url := pgtest.Empty(t)
	pool, err := postgres.Open(t.Context(), url, dbtest.MaxWait, log)
	dbtest.Must(t, err)
	defer pool.Close()
	if got := dbtest.Value[string](t, pool, "SHOW application_name"); got != "elobot" {
		t.Errorf("application_name is %q", got)
	}
	if got := dbtest.Value[string](t, pool, "SHOW lock_timeout"); got != "1500ms" {
		t.Errorf("lock_timeout is %q", got)
	}
	for name, tc := range map[string]struct {
		url     string
		maxWait time.Duration
	}{
		"malformed":        {"postgres://user:secret@host:nonsense/x", dbtest.MaxWait},
		"no such database": {rename(t, url, "/there_is_no_such_database"), dbtest.MaxWait},
		"no such role":     {asRole(t, url, "there_is_no_such_role"), dbtest.MaxWait},
		"nobody there":     {dbtest.ClosedPort(t), 50 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begun := time.Now()
			pool, err := postgres.Open(t.Context(), tc.url, tc.maxWait, log)
			if err == nil {
				pool.Close()
				t.Fatal("no error")
			}
			if tc.maxWait == dbtest.MaxWait && time.Since(begun) > dbtest.MaxWait/2 {
				t.Errorf("retried a permanent failure for %s", time.Since(begun))
			}
		})
	}
}

// TestEverySession checks that every session runs at READ COMMITTED and receives warnings, whatever
// URL, role and database configure. That holds in the pools, outside the pools and in migrations.
func TestEverySession(t *testing.T) {
	t.Parallel()
	address := pgtest.Empty(t)
	admin := dbtest.Open(t, address)
	for _, owner := range []string{"ALTER DATABASE ", "ALTER ROLE CURRENT_USER IN DATABASE "} {
		owner += pgx.Identifier{admin.Config().ConnConfig.Database}.Sanitize()
		dbtest.Exec(t, admin, owner+" SET default_transaction_isolation = 'repeatable read'")
		dbtest.Exec(t, admin, owner+" SET client_min_messages = error")
	}
	address = pgtest.WithParameter(address, "options", "--default_transaction_isolation=serializable")
	address = pgtest.WithParameter(address, "default_transaction_isolation", "serializable")
	pools := dbtest.OpenPools(t, address)
	const sql = `SELECT current_setting('transaction_isolation') || ', ' || current_setting('client_min_messages')`
	settings := map[string]string{}
	for name, pool := range map[string]*pgxpool.Pool{
		"commands": pools.Commands, "auxiliary": pools.Auxiliary, "questions": pools.Questions,
	} {
		settings[name] = dbtest.Value[string](t, pool, sql)
	}
	// The session that listens for notifications is also outside the pools.
	outside := dbtest.Open(t, address, func(c *pgxpool.Config) { c.ConnConfig = pools.Auxiliary.Config().ConnConfig })
	settings["outside the pools"] = dbtest.Value[string](t, outside, sql)
	dbtest.Migrate(t, pools.Commands, fstest.MapFS{
		"000001_seen.up.sql": {Data: []byte("CREATE TABLE seen AS " + sql + " AS settings")},
	})
	settings["migrations"] = dbtest.Value[string](t, pools.Commands, `SELECT settings FROM seen`)
	for name, got := range settings {
		if got != "read committed, warning" {
			t.Errorf("%s run with %s", name, got)
		}
	}
}

// TestOpenRetries checks that Open retries if the server is available only after the first attempt.
func TestOpenRetries(t *testing.T) {
	t.Parallel()
	p := dbtest.NewProxy(t, pgtest.Empty(t))
	p.Away.Store(true)
	logged := make(chan struct{}, 1)
	log := slog.New(onLog(func() {
		p.Away.Store(false)
		logged <- struct{}{}
	}))
	pool, err := postgres.Open(t.Context(), p.URL, dbtest.MaxWait, log)
	dbtest.Must(t, err)
	pool.Close()
	dbtest.Receive(t, logged)
}

// onLog is a log handler that calls a function for each record.
type onLog func()

func (f onLog) Enabled(context.Context, slog.Level) bool  { return true }
func (f onLog) Handle(context.Context, slog.Record) error { f(); return nil }
func (f onLog) WithAttrs([]slog.Attr) slog.Handler        { return f }
func (f onLog) WithGroup(string) slog.Handler             { return f }

// asRole returns the database's URL with the given role and a wrong password.
func asRole(t *testing.T, databaseURL, role string) string {
	t.Helper()
	u, err := url.Parse(databaseURL)
	dbtest.Must(t, err)
	u.User = url.UserPassword(role, "wrong")
	return u.String()
}

// rename returns the database's URL with the given path.
func rename(t *testing.T, databaseURL, path string) string {
	t.Helper()
	u, err := url.Parse(databaseURL)
	dbtest.Must(t, err)
	u.Path = path
	return u.String()
}
