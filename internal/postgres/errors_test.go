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
	"elobot/internal/ranking"
)

func TestUnavailable(t *testing.T) {
	t.Parallel()
	connect := func(address string) func(*testing.T) error {
		return func(t *testing.T) error {
			t.Helper()
			return open(t, address).Ping(t.Context())
		}
	}
	database := pgtest.New(t)
	for name, tc := range map[string]struct {
		fail func(*testing.T) error
		want bool
	}{
		"nobody there":         {connect(closedPort(t)), true},
		"no such host":         {connect("postgres://x:x@host.invalid/x?sslmode=disable"), true},
		"no such database":     {connect(rename(t, database, "/there_is_no_such_database")), false},
		"wrong password":       {wrongPassword, false},
		"statement":            {onConnection(database, `SELECT 1/0`), false},
		"no such table":        {onConnection(database, `SELECT FROM nowhere`), false},
		"constraint":           {onConnection(database, `INSERT INTO groups (chat_id) VALUES (0)`), false},
		"killed itself":        {onConnection(database, `SELECT pg_terminate_backend(pg_backend_pid())`), true},
		"read only":            {onConnection(database, `BEGIN READ ONLY; INSERT INTO handled_commands VALUES ('')`), true},
		"too many connections": {raise(database, "53300"), true},
		"disk full":            {raise(database, "53100"), true},
		"crash":                {raise(database, "57P02"), true},
		"starting up":          {raise(database, "57P03"), true},
		"statement not there":  {raise(database, "26000"), true}, // which happens only when the session is another one
		"statement there":      {raise(database, "42P05"), true},
		"stood still":          {raise(database, "25P03"), true},
		"aborted transaction":  {raise(database, "25P02"), false},
		"lease lost":           {onConnection(database, `SELECT false::lease_held`), true},
		"not as read":          {onConnection(database, `SELECT false::as_read`), false},
		"serialization":        {raise(database, "40001"), false},
		"statement timeout":    {onConnection(database, `SET statement_timeout = 1; SELECT pg_sleep(60)`), false},
		"deadline": {func(t *testing.T) error {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), 0)
			defer cancel()
			return open(t, database).Ping(ctx)
		}, false},
		"cancelled":             {cancelled, false},
		"server killed at work": {killedAtWork, true},
		"server killed before":  {killedBefore, true},
		"cut at work":           {cutAtWork, true},
		"cut before":            {cutBefore, true},
		"closed connection":     {closedConnection, true},
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
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(context.Background()) //nolint:errcheck // it may be broken
		_, err = conn.Exec(t.Context(), sql)
		return err
	}
}

// wrongPassword connects as somebody who is not known, which the server does not tell from a wrong password, and which
// also fails where it asks for none.
func wrongPassword(t *testing.T) error {
	t.Helper()
	u, err := url.Parse(pgtest.Empty(t))
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword("elobot_nobody", "wrong")
	return open(t, u.String()).Ping(t.Context())
}

// raise has the server report an error of that code.
func raise(address, code string) func(*testing.T) error {
	return onConnection(address, `DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '`+code+`'; END $$`)
}

const hang = `SELECT pg_advisory_lock(1)`

// atWork has a statement hang on the connections of the pool and then disturbs it.
func atWork(t *testing.T, victim, watcher *pgxpool.Pool, disturb func()) error {
	t.Helper()
	holder := begin(t, watcher)
	if _, err := holder.Exec(t.Context(), `SELECT pg_advisory_xact_lock(1)`); err != nil {
		t.Fatal(err)
	}
	result := start(func() error {
		_, err := victim.Exec(t.Context(), hang)
		return err
	})
	await(t, watcher, blocked)
	disturb()
	return receive(t, result)
}

func cancelled(t *testing.T) error {
	t.Helper()
	pool := open(t, pgtest.Empty(t))
	ctx, cancel := context.WithCancel(t.Context())
	holder := begin(t, pool)
	if _, err := holder.Exec(t.Context(), `SELECT pg_advisory_xact_lock(1)`); err != nil {
		t.Fatal(err)
	}
	result := start(func() error {
		_, err := pool.Exec(ctx, hang)
		return err
	})
	await(t, pool, blocked)
	cancel()
	return receive(t, result)
}

const killOthers = `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
	WHERE datname = current_database() AND pid <> pg_backend_pid() AND cardinality(pg_blocking_pids(pid)) >= $1`

func killedAtWork(t *testing.T) error {
	t.Helper()
	address := pgtest.Empty(t)
	victim, watcher := open(t, address), open(t, address)
	return atWork(t, victim, watcher, func() { exec(t, watcher, killOthers, 1) })
}

// killedBefore kills the server side of a connection that the client has and does not use.
func killedBefore(t *testing.T) error {
	t.Helper()
	address := pgtest.Empty(t)
	victim, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer victim.Close(context.Background()) //nolint:errcheck // it is broken
	exec(t, open(t, address), killOthers, 0)
	_, err = victim.Exec(t.Context(), "SELECT 1")
	return err
}

func cutAtWork(t *testing.T) error {
	t.Helper()
	address := pgtest.Empty(t)
	p := newProxy(t, address)
	return atWork(t, open(t, p.url), open(t, address), p.cut)
}

func cutBefore(t *testing.T) error {
	t.Helper()
	p := newProxy(t, pgtest.Empty(t))
	victim, err := pgx.Connect(t.Context(), p.url)
	if err != nil {
		t.Fatal(err)
	}
	defer victim.Close(context.Background()) //nolint:errcheck // it is broken
	p.cut()
	_, err = victim.Exec(t.Context(), "SELECT 1")
	return err
}

func closedConnection(t *testing.T) error {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), pgtest.Empty(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err = conn.Exec(t.Context(), "SELECT 1")
	return err
}
