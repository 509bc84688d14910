// Package pgtest gives each test its own PostgreSQL database. Only tests import it.
//
// The package provides the server, creates and drops databases, and simulates a database behind a
// pooler. If TEST_DATABASE_URL is set, it uses that server, on which the role in the URL must be
// allowed to create databases. Otherwise it starts a server from the PostgreSQL programs on the
// machine, or else in a container, or else from fetched programs. ELOBOT_TEST_POSTGRES=programs or
// =container allows only that source. On Linux, all packages of a run of go test share one server,
// which ends with the run. If there is no server, a test fails; it is never skipped.
//
// A test needs one line, and may be parallel:
//
//	url := pgtest.New(t)
//
// A test that changes only rows may [Borrow] a database instead, which takes a fraction of the
// time.
//
// The package must not depend on the tables, except by running the migrations that create them.
package pgtest

import (
	"net"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// New creates a database with all migrations applied and returns its URL. The database is dropped
// when the test ends, even if connections are still open.
func New(tb testing.TB) string {
	tb.Helper()
	return temporary(tb, migrated(tb))
}

// Empty creates a database without tables and returns its URL. The database is dropped when the
// test ends.
func Empty(tb testing.TB) string {
	tb.Helper()
	return temporary(tb, "template0")
}

// Copy copies a database, which must not have connections, and returns the copy's URL. of is the
// URL of the original. The copy is dropped when the test ends.
func Copy(tb testing.TB, of string) string {
	tb.Helper()
	config, err := pgx.ParseConfig(of)
	if err != nil {
		tb.Fatalf("parse the URL of the database to copy: %v", err)
	}
	return temporary(tb, config.Database)
}

// testServer returns the URL of the server that all tests share.
func testServer(tb testing.TB) string {
	tb.Helper()
	server, err := sharedServer()
	if err != nil {
		tb.Fatalf("no PostgreSQL for the tests: %v", err)
	}
	return server
}

// WithParameter returns the URL of a database with an additional parameter.
func WithParameter(database, name, value string) string {
	between := "?"
	if strings.Contains(database, "?") {
		between = "&"
	}
	return database + between + name + "=" + url.QueryEscape(value)
}

// ByTCP returns the URL of a database with the host and port of its server, even if the given URL
// has a Unix socket instead.
func ByTCP(tb testing.TB, database string) string {
	tb.Helper()
	u, err := url.Parse(database)
	if err != nil {
		tb.Fatalf("parse the URL of a database: %v", err)
	}
	query := u.Query()
	if u.Host == "" {
		u.Host = net.JoinHostPort("127.0.0.1", query.Get("port"))
	}
	query.Del("host")
	query.Del("port")
	u.RawQuery = query.Encode()
	return u.String()
}

// migrated returns the name of the template with all migrations applied.
func migrated(tb testing.TB) string {
	tb.Helper()
	testServer(tb) // fails the test if there is no server
	name, err := migratedTemplate()
	if err != nil {
		tb.Fatalf("create the template database: %v", err)
	}
	return name
}

// temporary creates a database that is dropped when the test ends, and returns its URL.
func temporary(tb testing.TB, template string) string {
	tb.Helper()
	url, drop := create(tb, template)
	cleanupWith(tb, drop)
	return url
}

func cleanupWith(tb testing.TB, end func() error) {
	tb.Cleanup(func() {
		if err := end(); err != nil {
			tb.Error(err)
		}
	})
}

// create creates a database, and returns its URL and a function that drops it. Copying the
// template's files takes less processor time than copying through the WAL. But it needs
// checkpoints, which are cheap only without fsync, so it is not done on the user's own server.
func create(tb testing.TB, template string) (url string, drop func() error) {
	tb.Helper()
	server, name, strategy := testServer(tb), cloneName(), "file_copy"
	if server == os.Getenv(urlVariable) {
		strategy = "wal_log"
	}
	url, err := databaseURL(server, name)
	if err == nil {
		err = admin.execute(server, "CREATE DATABASE "+quoted(name)+" TEMPLATE "+quoted(template)+" STRATEGY "+strategy)
	}
	if err != nil {
		tb.Fatalf("create a database: %v", err)
	}
	return url, func() error { return dropDatabase(server, name) }
}
