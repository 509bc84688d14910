package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Database is a migrated database with a pool of connections. Tests borrow it one after another,
// because deleting its rows is many times faster than creating a database and connecting to it.
type Database struct {
	URL  string
	Pool *pgxpool.Pool

	original string // see fingerprintOf
	emptySQL string // the statement that Empty executes
	drop     func() error
}

const (
	// maxSessions is the maximum number of connections to a borrowed database.
	maxSessions = 16
	// maxIdleSessions is the maximum number of connections that an idle database keeps open for the
	// next test, because opening one takes more time than many tests do. Most tests need no more.
	// The connections of all packages must fit into one server.
	maxIdleSessions = 4
)

// idleDatabases holds the borrowed databases that tests have returned, for the next tests.
var idleDatabases struct {
	mu  sync.Mutex
	all []*Database
}

// These variables are in use until all tests of the importing package have finished. session is
// Main.Session.
var (
	session    string
	cleanupsMu sync.Mutex
	cleanups   []func() error // run by Main at the end
)

// NewLasting creates a database like New, but it lasts until all tests of the package have
// finished. The package must run its tests with Main.
func NewLasting(tb testing.TB) string {
	tb.Helper()
	url, drop := create(tb, migrated(tb))
	cleanupsMu.Lock()
	defer cleanupsMu.Unlock()
	cleanups = append(cleanups, drop)
	return url
}

// Borrow returns a database like one from New, for the exclusive use of the test until it ends. A
// package that borrows must run its tests with Main.
func Borrow(tb testing.TB) *Database {
	tb.Helper()
	d := takeIdle()
	if d == nil {
		d = newDatabase(tb)
	}
	tb.Cleanup(func() {
		reusable, err := d.clean()
		if reusable && !tb.Failed() {
			idleDatabases.mu.Lock()
			defer idleDatabases.mu.Unlock()
			idleDatabases.all = append(idleDatabases.all, d)
			return
		}
		if err := errors.Join(err, d.end()); err != nil {
			tb.Error(err)
		}
	})
	return d
}

// Main runs the tests of a package that calls Borrow or NewLasting, and then drops the databases.
type Main struct {
	*testing.M
	// Session is SQL that each connection of a Database's Pool runs first.
	Session string
}

// Run runs the tests, drops the databases, and returns the exit code, which is not 0 if a test or
// the cleanup fails.
func (m Main) Run() int {
	session = m.Session
	code := m.M.Run()
	for d := takeIdle(); d != nil; d = takeIdle() {
		cleanups = append(cleanups, d.end)
	}
	for _, end := range append(cleanups, admin.close) {
		if err := end(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	return code
}

func takeIdle() *Database {
	idleDatabases.mu.Lock()
	defer idleDatabases.mu.Unlock()
	last := len(idleDatabases.all) - 1
	if last < 0 {
		return nil
	}
	d := idleDatabases.all[last]
	idleDatabases.all = idleDatabases.all[:last]
	return d
}

func newDatabase(tb testing.TB) *Database {
	tb.Helper()
	url, drop := create(tb, migrated(tb))
	d := &Database{URL: url, drop: drop}
	ctx, cancel := context.WithTimeout(context.Background(), operationTimeout)
	defer cancel()
	config, err := pgxpool.ParseConfig(d.URL)
	if err != nil {
		tb.Fatalf("parse the URL of a database: %v", err)
	}
	config.MaxConns = maxSessions
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, session)
		return err
	}
	// The pool outlives the test that creates it.
	if d.Pool, err = pgxpool.NewWithConfig(context.Background(), config); err != nil {
		tb.Fatalf("connect to a database: %v", err)
	}
	if d.original, _, err = fingerprintOf(ctx, d.Pool); err == nil {
		err = d.Pool.QueryRow(ctx, emptySQL).Scan(&d.emptySQL)
	}
	if err != nil {
		tb.Fatalf("inspect a database: %v", errors.Join(err, d.end()))
	}
	return d
}

// Empty deletes all rows except those of schema_migrations, and restarts all sequences. If the test
// has changed nothing else, the database is then as it was when borrowed.
func (d *Database) Empty(ctx context.Context) error {
	// Query makes each connection prepare the statement only once: planning it takes longer than
	// deleting a few rows.
	rows, err := d.Pool.Query(ctx, d.emptySQL)
	if err == nil {
		rows.Close()
		err = rows.Err()
	}
	if err != nil {
		return fmt.Errorf("empty a database: %w", err)
	}
	return nil
}

func (d *Database) end() error {
	d.Pool.Close()
	return d.drop()
}

const (
	// emptySQL is a query that builds the statement that Empty executes. That statement restarts
	// all sequences and deletes from all tables at once, so that foreign keys impose no order on
	// the tables.
	emptySQL = `
		SELECT 'WITH ' || string_agg(format('d%s AS (DELETE FROM %s)', oid, oid::regclass), ', ') FILTER (WHERE relkind = 'r')
		    || ' SELECT ' || string_agg(format('setval(%L, 1, false)', oid::regclass), ', ') FILTER (WHERE relkind = 'S')
		FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relname <> 'schema_migrations'`
	// endOthersSQL ends the sessions of the database whose process ids are not in $1, because a
	// session may still execute a query after its client has gone. It calls pg_stat_get_activity
	// directly because the view pg_stat_activity takes four times as long.
	endOthersSQL = `
		SELECT count(pg_terminate_backend(pid, 60000)) FROM pg_stat_get_activity(NULL)
		WHERE datid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND backend_type = 'client backend'
		AND NOT pid = ANY ($1::bigint[])`
	maxCleanSize = 1 << 20 // bytes; deleting more takes longer than creating a new database
)

// clean resets the database to its original state. reusable is false if that is impossible or not
// worthwhile.
func (d *Database) clean() (reusable bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), operationTimeout)
	defer cancel()
	if s := d.Pool.Stat(); s.AcquiredConns() > 0 || s.ConstructingConns() > 0 {
		return false, nil
	}
	var kept []uint32
	for _, conn := range d.Pool.AcquireAllIdle(ctx) {
		// An error means that the test has ended the session.
		if _, err := conn.Exec(ctx, "RESET ALL; UNLISTEN *; CLOSE ALL; "+session); err != nil ||
			len(kept) == maxIdleSessions {
			_ = conn.Conn().Close(ctx) // the session may have ended
		} else {
			kept = append(kept, conn.Conn().PgConn().PID())
		}
		conn.Release()
	}
	if len(kept) == 0 {
		return false, nil
	}
	if _, err := d.Pool.Exec(ctx, endOthersSQL, kept); err != nil {
		return false, err
	}
	if now, size, err := fingerprintOf(ctx, d.Pool); err != nil || now != d.original || size > maxCleanSize {
		// An error means that the test has removed a table that the fingerprint reads.
		return false, nil
	}
	err = d.Empty(ctx)
	return err == nil, err
}

// fingerprintOf returns a fingerprint of what Empty does not reset in a database, and the size of
// the database's tables in bytes. For each of the main catalogs, and for schema_migrations, the
// fingerprint contains the number of rows and the sum of their xmin. Nearly every change to the
// rows changes that sum. The fingerprint also contains whether an advisory lock is held.
func fingerprintOf(ctx context.Context, pool *pgxpool.Pool) (fingerprint string, size int, err error) {
	sql := `
		SELECT (SELECT coalesce(sum(pg_relation_size(oid)), 0)
		           FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'),
		       concat_ws(' ', EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory'
		           AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`
	for _, catalog := range []string{
		"pg_class WHERE oid", "pg_attribute WHERE attrelid", "pg_constraint WHERE oid",
		"pg_policy WHERE oid", "pg_proc WHERE oid", "pg_rewrite WHERE oid", "pg_sequence WHERE seqrelid",
		"pg_trigger WHERE oid", "pg_type WHERE oid", "schema_migrations WHERE 16384",
	} {
		const ours = ">= 16384" // the OIDs of user-defined objects
		sql += fmt.Sprintf(`, (SELECT concat_ws(' ', count(*), sum(xmin::text::bigint)) FROM %s %s)`, catalog, ours)
	}
	if err := pool.QueryRow(ctx, sql+")").Scan(&size, &fingerprint); err != nil {
		return "", 0, fmt.Errorf("inspect the schema of a database: %w", err)
	}
	return fingerprint, size, nil
}
