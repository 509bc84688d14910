// Package pgtest gives each test its own PostgreSQL database. Only tests import it.
//
// It provides the server, creates and drops databases, and has a pooler to put in front of one. The server is the one of
// TEST_DATABASE_URL, if set, with a role that may create databases. Otherwise it runs from the PostgreSQL programs on the
// machine, or else in a container, or else from fetched programs. ELOBOT_TEST_POSTGRES=programs or =container allows only
// that one. On Linux all packages of a run of go test share one server, which ends with the run. Without a database a test
// fails; it is never skipped. A test of failovers starts a pair of servers of its own.
//
// A test needs one line, and may be parallel:
//
//	url := pgtest.New(t)
//
// A test that commits only rows may Borrow a database instead, which takes a fraction of the time.
//
// The package must not know anything about the tables beyond the migrations that create them.
package pgtest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/migrations"
)

// operationTimeout limits creating or dropping one database. It is long enough for a busy machine.
const operationTimeout = time.Minute

// New creates a database with all migrations applied and returns its URL. The database is dropped when the test ends, even
// if connections are still open.
func New(tb testing.TB) string {
	tb.Helper()
	url, drop := newClone(tb)
	cleanupWith(tb, drop)
	return url
}

// newClone creates a database with all migrations applied, and returns its URL and a function that drops it.
func newClone(tb testing.TB) (url string, drop func() error) {
	tb.Helper()
	server := Server(tb)
	template, err := migratedTemplate()
	if err != nil {
		tb.Fatalf("create the template database: %v", err)
	}
	return create(tb, server, template)
}

// Empty creates a database without tables and returns its URL. The database is dropped when the test ends.
func Empty(tb testing.TB) string {
	tb.Helper()
	url, drop := create(tb, Server(tb), "template0")
	cleanupWith(tb, drop)
	return url
}

// Copy creates a copy of another database, which must not have connections, and returns its URL. The copy is dropped when
// the test ends.
func Copy(tb testing.TB, of string) string {
	tb.Helper()
	config, err := pgx.ParseConfig(of)
	if err != nil {
		tb.Fatalf("parse the URL of the database to copy: %v", err)
	}
	url, drop := create(tb, Server(tb), config.Database)
	cleanupWith(tb, drop)
	return url
}

// Server returns the URL of the server that the tests share, for a test that must change its own database from outside.
// The server outlives the test.
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
		tb.Fatalf("create a database: %v", err)
	}
	url, err := databaseURL(server, name)
	if err != nil {
		tb.Fatalf("derive the database's URL: %v", err)
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

func cleanupWith(tb testing.TB, end func() error) {
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
