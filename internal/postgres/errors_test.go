package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
)

func TestUnavailable(t *testing.T) {
	t.Parallel()
	connect := func(address string) func(*testing.T) error {
		return func(t *testing.T) error {
			t.Helper()
			return dbtest.Open(t, address).Ping(t.Context())
		}
	}
	d := pgtest.Borrow(t)
	database := d.URL
	for name, tc := range map[string]struct {
		fail func(*testing.T) error
		want bool
	}{
		"nobody there":         {connect(dbtest.ClosedPort(t)), true},
		"no such host":         {connect("postgres://x:x@host.invalid/x?sslmode=disable"), true},
		"no such database":     {connect(rename(t, database, "/there_is_no_such_database")), true},
		"wrong password":       {wrongPassword(database), true},
		"statement":            {inDatabase(d, `SELECT 1/0`), false},
		"no such table":        {inDatabase(d, `SELECT FROM nowhere`), false},
		"constraint":           {inDatabase(d, `INSERT INTO groups (chat_id) VALUES (0)`), false},
		"killed itself":        {onConnection(database, `SELECT pg_terminate_backend(pg_backend_pid())`), true},
		"read only":            {onConnection(database, `BEGIN READ ONLY; INSERT INTO handled_commands VALUES ('')`), true},
		"too many connections": {raise(d, "53300"), true},
		"disk full":            {raise(d, "53100"), true},
		"crash":                {raise(d, "57P02"), true},
		"starting up":          {raise(d, "57P03"), true},
		"statement not there":  {raise(d, "26000"), true}, // can only happen in another session
		"statement there":      {raise(d, "42P05"), true},
		"stalled":              {raise(d, "25P03"), true},
		"rights gone":          {raise(d, "42501"), true},
		"aborted transaction":  {raise(d, "25P02"), false},
		"lease lost":           {inDatabase(d, `SELECT false::lease_held`), true},
		"changed":              {inDatabase(d, `SELECT false::unchanged`), false},
		"serialization":        {raise(d, "40001"), false},
		"statement timeout":    {onConnection(database, `SET statement_timeout = 1; SELECT pg_sleep(60)`), false},
		"deadline": {func(t *testing.T) error {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), 0)
			defer cancel()
			return dbtest.Open(t, database).Ping(ctx)
		}, false},
		"canceled":              {canceled(d), false},
		"server killed at work": {killedAtWork(d), true},
		"server killed before":  {killedBefore(d), true},
		"cut at work":           {cutAtWork(d), true},
		"cut before":            {cutBefore(database), true},
		"closed connection":     {closedConnection(database), true},
		"nothing":               {func(*testing.T) error { return nil }, false},
		"anything":              {func(*testing.T) error { return errors.New("anything") }, false},
		"conflict":              {func(*testing.T) error { return ranking.ErrConflict }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := tc.fail(t)
			if (err == nil) != (name == "nothing") {
				t.Fatalf("error is %v", err)
			}
			for _, e := range []error{err, fmt.Errorf("wrapped: %w", err)} {
				if got := postgres.Unavailable(e); got != tc.want && e != nil && err != nil {
					t.Errorf("unavailable: %t, want %t, for %v (%T)", got, tc.want, e, err)
				}
			}
		})
	}
}

func onConnection(address, sql string) func(*testing.T) error {
	return func(t *testing.T) error {
		t.Helper()
		conn, err := pgx.Connect(t.Context(), address)
		dbtest.Must(t, err)
		defer conn.Close(context.Background()) //nolint:errcheck // it may be broken
		_, err = conn.Exec(t.Context(), sql)
		return err
	}
}

// wrongPassword returns a function that connects as an unknown user. The server refuses such a user
// even if it requires no passwords.
func wrongPassword(address string) func(*testing.T) error {
	return func(t *testing.T) error {
		t.Helper()
		u, err := url.Parse(address)
		dbtest.Must(t, err)
		u.User = url.UserPassword("elobot_nobody", "wrong")
		return dbtest.Open(t, u.String()).Ping(t.Context())
	}
}

// raise returns a function that makes the server report an error with the code.
func raise(d *pgtest.Database, code string) func(*testing.T) error {
	return inDatabase(d, `DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '`+code+`'; END $$`)
}

// inDatabase returns a function that runs a statement in a session of the database's pool. The
// session must remain usable after the statement.
func inDatabase(d *pgtest.Database, sql string) func(*testing.T) error {
	return func(t *testing.T) error {
		t.Helper()
		_, err := d.Pool.Exec(t.Context(), sql)
		return err
	}
}

// atWork makes a statement on the victim pool wait for the advisory lock key, disturbs the
// statement's connection, and returns the statement's error. Tests that share a database need
// different keys.
func atWork(
	ctx context.Context, t *testing.T, d *pgtest.Database, victim *pgxpool.Pool, key int, disturb func(pid int),
) error {
	t.Helper()
	holder := dbtest.Begin(t, d.Pool)
	dbtest.Exec(t, holder, `SELECT pg_advisory_xact_lock($1)`, key)
	result := dbtest.Start(func() error {
		_, err := victim.Exec(ctx, `SELECT pg_advisory_lock($1)`, key)
		return err
	})
	const waiting = `FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND objid = $1
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
	dbtest.Await(t, d.Pool, `SELECT EXISTS (SELECT `+waiting+`)`, key)
	disturb(dbtest.Value[int](t, d.Pool, `SELECT pid `+waiting, key))
	return dbtest.Receive(t, result)
}

func canceled(d *pgtest.Database) func(*testing.T) error {
	return func(t *testing.T) error {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		return atWork(ctx, t, d, d.Pool, 1, func(int) { cancel() })
	}
}

const kill = `SELECT pg_terminate_backend($1, 10000)`

func killedAtWork(d *pgtest.Database) func(*testing.T) error {
	return func(t *testing.T) error {
		t.Helper()
		return atWork(t.Context(), t, d, dbtest.Open(t, d.URL), 2, func(pid int) { dbtest.Exec(t, d.Pool, kill, pid) })
	}
}

func cutAtWork(d *pgtest.Database) func(*testing.T) error {
	return func(t *testing.T) error {
		t.Helper()
		p := dbtest.NewProxy(t, d.URL)
		return atWork(t.Context(), t, d, dbtest.Open(t, p.URL), 3, func(int) { p.Cut() })
	}
}

// killedBefore returns a function that executes a statement on a connection whose server process
// has been killed.
func killedBefore(d *pgtest.Database) func(*testing.T) error {
	return func(t *testing.T) error {
		t.Helper()
		victim, err := pgx.Connect(t.Context(), d.URL)
		dbtest.Must(t, err)
		defer victim.Close(context.Background()) //nolint:errcheck // it is broken
		dbtest.Exec(t, d.Pool, kill, victim.PgConn().PID())
		_, err = victim.Exec(t.Context(), "SELECT 1")
		return err
	}
}

func cutBefore(address string) func(*testing.T) error {
	return func(t *testing.T) error {
		t.Helper()
		p := dbtest.NewProxy(t, address)
		victim, err := pgx.Connect(t.Context(), p.URL)
		dbtest.Must(t, err)
		defer victim.Close(context.Background()) //nolint:errcheck // it is broken
		p.Cut()
		_, err = victim.Exec(t.Context(), "SELECT 1")
		return err
	}
}

func closedConnection(address string) func(*testing.T) error {
	return func(t *testing.T) error {
		t.Helper()
		conn, err := pgx.Connect(t.Context(), address)
		dbtest.Must(t, err)
		dbtest.Must(t, conn.Close(t.Context()))
		_, err = conn.Exec(t.Context(), "SELECT 1")
		return err
	}
}
