package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Database is a migrated database with a pool of connections, which tests borrow one after the other. Deleting its rows is
// many times faster than creating a database and connecting to it.
type Database struct {
	URL  string
	Pool *pgxpool.Pool

	initSQL  string // SQL that each connection runs first, set by the borrower
	original fingerprint
	emptySQL string // the statement that deletes all rows
	drop     func() error
}

// The maximum number of connections to one database, while it is borrowed and while it is idle. Most tests need no more
// than maxIdleSessions. Opening a connection takes more time than many tests, and the connections of all packages must fit
// into one server.
const (
	maxSessions     = 16
	maxIdleSessions = 4
)

// idleDatabases are the databases that no test has borrowed.
var idleDatabases struct {
	mu  sync.Mutex
	all []*Database
}

// State that lasts until all tests of the package have finished.
var (
	hasMain    bool
	session    string
	cleanupsMu sync.Mutex
	cleanups   []func() error // run by Main at the end
)

// NewLasting creates a database as New does, but one that lasts until all tests of the package have finished.
func NewLasting(tb testing.TB) string {
	tb.Helper()
	mustHaveMain(tb)
	url, drop := newClone(tb)
	cleanupsMu.Lock()
	defer cleanupsMu.Unlock()
	cleanups = append(cleanups, drop)
	return url
}

// Borrow returns a database like one from New, for the exclusive use of the test until it ends. A package that borrows
// must run its tests with Main.
func Borrow(tb testing.TB) *Database {
	tb.Helper()
	return BorrowWith(tb, "")
}

// BorrowWith is Borrow with SQL that each connection runs first, after the SQL of Main.
func BorrowWith(tb testing.TB, initSQL string) *Database {
	tb.Helper()
	mustHaveMain(tb)
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
	if err := d.setInitSQL(tb.Context(), initSQL); err != nil {
		tb.Fatal(err)
	}
	return d
}

// setInitSQL runs the SQL on the existing connections and makes new connections run it first.
func (d *Database) setInitSQL(ctx context.Context, initSQL string) (err error) {
	d.initSQL = initSQL
	if initSQL == "" {
		return nil
	}
	for _, conn := range d.Pool.AcquireAllIdle(ctx) {
		_, failure := conn.Exec(ctx, initSQL)
		err = errors.Join(err, failure)
		conn.Release()
	}
	return err
}

// Main runs the tests of a package that borrows databases, and drops the databases at the end.
type Main struct {
	*testing.M
	// Session is SQL that each connection to a borrowed database runs first.
	Session string
}

// Run runs the tests and returns the exit code.
func (m Main) Run() int {
	hasMain, session = true, m.Session
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

// mustHaveMain fails the test unless Main runs it, because only Main drops databases that outlive the test.
func mustHaveMain(tb testing.TB) {
	tb.Helper()
	if !hasMain {
		tb.Fatal("pgtest.Main does not run the tests of this package")
	}
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
	url, drop := newClone(tb)
	d := &Database{URL: url, drop: drop}
	err := d.connect()
	if err != nil {
		tb.Fatal(errors.Join(err, drop()))
	}
	return d
}

func (d *Database) connect() error {
	config, err := pgxpool.ParseConfig(d.URL)
	if err != nil {
		return fmt.Errorf("parse the URL of a database: %w", err)
	}
	config.MaxConns = maxSessions
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, session+";"+d.initSQL)
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), operationTimeout)
	defer cancel()
	// The pool outlives the test that creates it.
	if d.Pool, err = pgxpool.NewWithConfig(context.Background(), config); err != nil {
		return fmt.Errorf("connect to a database: %w", err)
	}
	if d.original, _, err = fingerprintOf(ctx, d.Pool); err != nil {
		d.Pool.Close()
		return err
	}
	if err := d.Pool.QueryRow(ctx, emptySQL).Scan(&d.emptySQL); err != nil {
		d.Pool.Close()
		return fmt.Errorf("inspect a database: %w", err)
	}
	return nil
}

// Empty deletes all rows, so that the database is as it was when it was borrowed.
func (d *Database) Empty(ctx context.Context) error { return d.empty(ctx, d.Pool) }

// querier is implemented by pools, connections and transactions.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// empty uses Query, so that each connection prepares the statement only once: planning it takes longer than deleting a few
// rows.
func (d *Database) empty(ctx context.Context, on querier) error {
	rows, err := on.Query(ctx, d.emptySQL)
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
	// emptySQL returns a statement that empties all tables at once, regardless of foreign keys, and restarts all sequences.
	emptySQL = `
		SELECT 'WITH ' || string_agg(format('d%s AS (DELETE FROM %s)', oid, oid::regclass), ', ') FILTER (WHERE relkind = 'r')
		    || ' SELECT ' || string_agg(format('setval(%L, 1, false)', oid::regclass), ', ') FILTER (WHERE relkind = 'S')
		FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relname <> 'schema_migrations'`
	// terminateOthersSQL returns the sessions of the database and terminates those that are not in $1. It uses the function
	// directly because the view pg_stat_activity takes four times as long.
	terminateOthersSQL = `
		SELECT pid, CASE WHEN NOT pid = ANY ($1::bigint[]) THEN pg_terminate_backend(pid) END FROM pg_stat_get_activity(NULL)
		WHERE datid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND backend_type = 'client backend'`
	maxCleanSize = 1 << 20 // bytes; deleting more rows is slower than a new database
)

// clean resets the database to its original state. It returns false if the database cannot be reused, or if that is not
// worthwhile.
func (d *Database) clean() (reusable bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), operationTimeout)
	defer cancel()
	if s := d.Pool.Stat(); s.AcquiredConns() > 0 || s.ConstructingConns() > 0 {
		return false, nil
	}
	all := d.Pool.AcquireAllIdle(ctx)
	defer func() {
		for _, conn := range all {
			conn.Release()
		}
	}()
	if len(all) == 0 {
		return false, nil
	}
	for len(all) > maxIdleSessions {
		last := all[len(all)-1]
		all = all[:len(all)-1]
		_ = last.Conn().Close(ctx) // it may have ended already
		last.Release()
	}
	conn := all[0].Conn()
	if alone, err := endOtherSessions(ctx, conn, all); err != nil || !alone {
		return false, err
	}
	if now, size, err := fingerprintOf(ctx, conn); err != nil || now != d.original || size > maxCleanSize {
		return false, err
	}
	if err := d.empty(ctx, conn); err != nil {
		return false, err
	}
	for _, c := range all {
		if _, err := c.Exec(ctx, "RESET ALL; UNLISTEN *; CLOSE ALL; "+session); err != nil {
			return false, err
		}
	}
	return true, nil
}

// endOtherSessions ends all sessions of the database that are not in the pool, because a session may still execute a query
// after its client has gone. It returns false if a session of the pool has ended too.
func endOtherSessions(ctx context.Context, conn *pgx.Conn, all []*pgxpool.Conn) (bool, error) {
	ours := make([]uint32, len(all))
	for i, c := range all {
		ours[i] = c.Conn().PgConn().PID()
	}
	for {
		type session struct {
			PID        uint32
			Terminated *bool
		}
		found, err := conn.Query(ctx, terminateOthersSQL, ours)
		if err != nil {
			return false, err
		}
		there, err := pgx.CollectRows(found, pgx.RowToStructByPos[session])
		if err != nil {
			return false, err
		}
		kept := 0
		for _, s := range there {
			if slices.Contains(ours, s.PID) {
				kept++
			}
		}
		if kept < len(ours) {
			return false, nil
		}
		if len(there) == kept {
			return true, nil
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}
