// Package pgtest gives each test a PostgreSQL database of its own. Only tests import it.
//
// It owns where the server comes from, how databases are made and dropped, and a pooler to put in front of one. The
// server is TEST_DATABASE_URL when that is set (a role that may create databases), else the PostgreSQL programs on the
// machine, else a container, else programs that are fetched; ELOBOT_TEST_POSTGRES=programs or =container leaves no choice.
// On Linux one server serves all packages of a run of go test, and ends with it. Without a database a test fails; it is
// never skipped.
//
// A test needs one line, and may be parallel:
//
//	url := pgtest.New(t)
//
// One that commits rows and nothing else may Borrow a database instead, which takes a fraction of the time.
//
// The package must not know anything of the tables beyond the migrations that make them.
package pgtest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/migrations"
)

// operationTimeout bounds making or dropping one database. A busy machine can be slow; none is that slow.
const operationTimeout = time.Minute

// New makes a database with all migrations applied and returns its URL. It is dropped when the test ends, together
// with connections that are still open to it.
func New(tb testing.TB) string {
	tb.Helper()
	url, drop := newClone(tb)
	endWith(tb, drop)
	return url
}

// newClone makes a database with all migrations applied, and returns its URL and what drops it.
func newClone(tb testing.TB) (url string, drop func() error) {
	tb.Helper()
	server := Server(tb)
	template, err := migratedTemplate()
	if err != nil {
		tb.Fatalf("make the template database: %v", err)
	}
	return create(tb, server, template)
}

// Empty makes a database without tables and returns its URL. It is dropped as that of New is.
func Empty(tb testing.TB) string {
	tb.Helper()
	url, drop := create(tb, Server(tb), "template0")
	endWith(tb, drop)
	return url
}

// Copy makes a database with all that is in another one, to which nobody may be connected, and returns its URL. It is
// dropped as that of New is.
func Copy(tb testing.TB, of string) string {
	tb.Helper()
	config, err := pgx.ParseConfig(of)
	if err != nil {
		tb.Fatalf("read the URL of the database to be copied: %v", err)
	}
	url, drop := create(tb, Server(tb), config.Database)
	endWith(tb, drop)
	return url
}

// Server is the URL of the server that the tests share, for a test that has to do something to its
// own database from outside. The server outlives the test.
func Server(tb testing.TB) string {
	tb.Helper()
	s, err := sharedServer()
	if err != nil {
		tb.Fatalf("no PostgreSQL for the tests: %v", err)
	}
	return s.url
}

func create(tb testing.TB, server, template string) (url string, remove func() error) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), operationTimeout)
	defer cancel()
	name := cloneName(time.Now())
	if err := clone(ctx, server, name, template); err != nil {
		tb.Fatalf("make a database: %v", err)
	}
	url, err := databaseURL(server, name)
	if err != nil {
		tb.Fatalf("make the database's URL: %v", err)
	}
	return url, func() error {
		ctx, cancel := context.WithTimeout(context.Background(), operationTimeout)
		defer cancel()
		if err := drop(ctx, server, name); err != nil {
			return fmt.Errorf("drop the database: %w", err)
		}
		return nil
	}
}

func endWith(tb testing.TB, end func() error) {
	tb.Cleanup(func() {
		if err := end(); err != nil {
			tb.Error(err)
		}
	})
}

func makeSharedTemplate() (string, error) {
	s, err := sharedServer()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*operationTimeout)
	defer cancel()
	return makeTemplate(ctx, s.url, migrations.FS)
}
