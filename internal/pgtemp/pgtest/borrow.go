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

// Database is a migrated database with connections to it, which tests have one after the other: to make one and to connect
// to it takes many times as long as to delete its rows.
type Database struct {
	URL  string
	Pool *pgxpool.Pool

	begin    string // SQL with which connections begin, for whoever has it
	asNew    fingerprint
	emptying string // the statement that deletes all rows
	drop     func() error
}

// How many connections there are to one database at the most, while a test has it and while it is spare. Most tests use no more
// than are kept: to open one takes more time than many tests, and those of all packages together have to fit into a server.
const (
	sessionsEach = 16
	sessionsKept = 4
)

// spare are the databases that no test has.
var spare struct {
	mu  sync.Mutex
	all []*Database
}

// What there is besides until all tests of the package are over.
var (
	hasMain   bool
	session   string
	lastingMu sync.Mutex
	lasting   []func() error // what ends it
)

// NewLasting makes a database as New does, which lasts until all tests of the package are over.
func NewLasting(tb testing.TB) string {
	tb.Helper()
	mustHaveMain(tb)
	url, drop := newClone(tb)
	lastingMu.Lock()
	defer lastingMu.Unlock()
	lasting = append(lasting, drop)
	return url
}

// Borrow returns a database that is like one of New, and that nobody else has until the test is over. The tests of a package
// that borrows are to be run by Main.
func Borrow(tb testing.TB) *Database {
	tb.Helper()
	return BorrowWith(tb, "")
}

// BorrowWith is Borrow, with SQL with which each connection begins, besides that of Main.
func BorrowWith(tb testing.TB, begin string) *Database {
	tb.Helper()
	mustHaveMain(tb)
	d := takeSpare()
	if d == nil {
		d = newDatabase(tb)
	}
	tb.Cleanup(func() {
		again, err := d.clean()
		if again && !tb.Failed() {
			spare.mu.Lock()
			defer spare.mu.Unlock()
			spare.all = append(spare.all, d)
			return
		}
		if err := errors.Join(err, d.end()); err != nil {
			tb.Error(err)
		}
	})
	if err := d.beginWith(tb.Context(), begin); err != nil {
		tb.Fatal(err)
	}
	return d
}

// beginWith has the connections that there are begin so, and those that follow.
func (d *Database) beginWith(ctx context.Context, begin string) (err error) {
	d.begin = begin
	if begin == "" {
		return nil
	}
	for _, conn := range d.Pool.AcquireAllIdle(ctx) {
		_, failure := conn.Exec(ctx, begin)
		err = errors.Join(err, failure)
		conn.Release()
	}
	return err
}

// Main runs the tests of a package that borrows, and drops what outlives them.
type Main struct {
	*testing.M
	// Session is SQL with which each connection to a borrowed database begins.
	Session string
}

// Run returns the exit code.
func (m Main) Run() int {
	hasMain, session = true, m.Session
	code := m.M.Run()
	for d := takeSpare(); d != nil; d = takeSpare() {
		lasting = append(lasting, d.end)
	}
	for _, end := range lasting {
		if err := end(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	return code
}

// mustHaveMain fails where nobody would drop what outlives the test.
func mustHaveMain(tb testing.TB) {
	tb.Helper()
	if !hasMain {
		tb.Fatal("the tests of this package are not run by pgtest.Main")
	}
}

func takeSpare() *Database {
	spare.mu.Lock()
	defer spare.mu.Unlock()
	last := len(spare.all) - 1
	if last < 0 {
		return nil
	}
	d := spare.all[last]
	spare.all = spare.all[:last]
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
		return fmt.Errorf("read the URL of a database: %w", err)
	}
	config.MaxConns = sessionsEach
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, session+";"+d.begin)
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), operationTimeout)
	defer cancel()
	// The pool outlives the test that is the first to have it.
	if d.Pool, err = pgxpool.NewWithConfig(context.Background(), config); err != nil {
		return fmt.Errorf("connect to a database: %w", err)
	}
	if d.asNew, _, err = fingerprintOf(ctx, d.Pool); err != nil {
		d.Pool.Close()
		return err
	}
	if err := d.Pool.QueryRow(ctx, emptying).Scan(&d.emptying); err != nil {
		d.Pool.Close()
		return fmt.Errorf("look at a database: %w", err)
	}
	return nil
}

// Empty makes the database as it was when it was borrowed.
func (d *Database) Empty(ctx context.Context) error { return d.empty(ctx, d.Pool) }

// querier is what a pool, a connection and a transaction have in common.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// empty asks by Query, which has a connection plan the statement once: that takes longer than to delete a few rows.
func (d *Database) empty(ctx context.Context, on querier) error {
	rows, err := on.Query(ctx, d.emptying)
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
	// emptying returns a statement that empties all tables at once, whatever refers to what, and lets all numbers begin anew.
	emptying = `
		SELECT 'WITH ' || string_agg(format('d%s AS (DELETE FROM %s)', oid, oid::regclass), ', ') FILTER (WHERE relkind = 'r')
		    || ' SELECT ' || string_agg(format('setval(%L, 1, false)', oid::regclass), ', ') FILTER (WHERE relkind = 'S')
		FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relname <> 'schema_migrations'`
	// sessionsThere returns those in the database, after it has told those that are not in $1 to end. It goes without the
	// view of this function, which takes four times as long.
	sessionsThere = `
		SELECT pid, CASE WHEN NOT pid = ANY ($1::bigint[]) THEN pg_terminate_backend(pid) END FROM pg_stat_get_activity(NULL)
		WHERE datid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND backend_type = 'client backend'`
	tooMuch = 1 << 20 // bytes, that are not deleted one row after the other
)

// clean makes the database as it was when it was new. It returns false if that is not worth it, or not possible.
func (d *Database) clean() (again bool, err error) {
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
	for len(all) > sessionsKept {
		last := all[len(all)-1]
		all = all[:len(all)-1]
		_ = last.Conn().Close(ctx) // it may have ended already
		last.Release()
	}
	conn := all[0].Conn()
	if alone, err := isAlone(ctx, conn, all); err != nil || !alone {
		return false, err
	}
	if now, size, err := fingerprintOf(ctx, conn); err != nil || now != d.asNew || size > tooMuch {
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

// isAlone has all sessions end but those of the pool: the client of one may be gone, and what it has asked for still be
// done. It returns false if one of the pool has ended too.
func isAlone(ctx context.Context, conn *pgx.Conn, all []*pgxpool.Conn) (bool, error) {
	ours := make([]uint32, len(all))
	for i, c := range all {
		ours[i] = c.Conn().PgConn().PID()
	}
	for {
		type session struct {
			PID  uint32
			Told *bool
		}
		found, err := conn.Query(ctx, sessionsThere, ours)
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
