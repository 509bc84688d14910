package postgres_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres"
)

// database is a migrated database with a pool of connections to it. One test after the other has it for itself: to make
// one and to connect to it takes fifty times as long as to empty it.
type database struct {
	url    string
	pool   *pgxpool.Pool
	schema string // what it consisted of when it was made
	empty  string // the statement that empties it
}

// spare are the databases that no test has.
var spare struct {
	mu  sync.Mutex
	all []*database
}

// borrow returns a migrated database, as empty as a new one, which nobody else uses until the test is over. Tests that
// need another one, or put much into it, ask pgtest.
func borrow(t *testing.T) *database {
	t.Helper()
	d := takeSpare()
	if d == nil {
		d = newDatabase(t)
	}
	t.Cleanup(func() {
		if t.Failed() || !d.clean(t) {
			d.pool.Close()
			return
		}
		spare.mu.Lock()
		defer spare.mu.Unlock()
		spare.all = append(spare.all, d)
	})
	return d
}

func takeSpare() *database {
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

// atTheEnd is what tests leave to be done when none runs any more.
var atTheEnd struct {
	mu  sync.Mutex
	all []func()
}

// allTests are the tests and what is done when they are over.
type allTests struct{ *testing.M }

func (a allTests) Run() int {
	defer func() {
		for d := takeSpare(); d != nil; d = takeSpare() {
			d.pool.Close()
		}
		for _, f := range atTheEnd.all {
			f()
		}
	}()
	return a.M.Run()
}

// outlived is a test that what it makes outlives.
type outlived struct{ testing.TB }

func outliving(t *testing.T) testing.TB {
	t.Helper()
	return outlived{t}
}

func (outlived) Cleanup(f func()) {
	atTheEnd.mu.Lock()
	defer atTheEnd.mu.Unlock()
	atTheEnd.all = append(atTheEnd.all, f)
}

func (outlived) Errorf(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

func newDatabase(t *testing.T) *database {
	t.Helper()
	d := &database{url: pgtest.New(outliving(t))}
	config, err := pgxpool.ParseConfig(d.url)
	if err != nil {
		t.Fatal(err)
	}
	config.MaxConns = 8
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, postgres.Planning)
		return err
	}
	if d.pool, err = pgxpool.NewWithConfig(context.Background(), config); err != nil {
		t.Fatal(err)
	}
	if err := d.pool.QueryRow(t.Context(), emptying).Scan(&d.empty); err != nil {
		t.Fatal(err)
	}
	if err := d.pool.QueryRow(t.Context(), schemaAndSize).Scan(&d.schema, new(int)); err != nil {
		t.Fatal(err)
	}
	return d
}

// define makes a function, and triggers that call it, for as long as the test lasts.
func define(t *testing.T, pool *pgxpool.Pool, function, sql string) {
	t.Helper()
	exec(t, pool, sql)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if _, err := pool.Exec(ctx, "DROP FUNCTION "+function+" CASCADE"); err != nil {
			t.Error(err)
		}
	})
}

// refuse has every change of that kind fail for as long as the test lasts.
func refuse(t *testing.T, pool *pgxpool.Pool, table, event string) {
	t.Helper()
	define(t, pool, "refuse", `
		CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION USING CONSTRAINT = ''refused''; END';
		CREATE TRIGGER refuse BEFORE `+event+` ON `+table+` FOR EACH ROW EXECUTE FUNCTION refuse()`)
}

// forget has all connections of the pool be as if they had never seen a statement.
func forget(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	for _, conn := range pool.AcquireAllIdle(t.Context()) {
		if err := conn.Conn().DeallocateAll(t.Context()); err != nil {
			t.Error(err)
		}
		conn.Release()
	}
}

const (
	// emptying returns a statement that empties all tables at once, whatever refers to what, and lets all numbers begin anew.
	emptying = `
		SELECT 'WITH ' || string_agg(format('d%s AS (DELETE FROM %s)', oid, oid::regclass), ', ') FILTER (WHERE relkind = 'r')
		    || ' SELECT ' || string_agg(format('setval(%L, 1, false)', oid::regclass), ', ') FILTER (WHERE relkind = 'S')
		FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relname <> 'schema_migrations'`
	// schemaAndSize tells one schema from another, and one in which a lock is kept, and how many bytes there are in tables.
	schemaAndSize = `
		SELECT concat_ws(' ', count(*), sum(oid::bigint), sum(hashtext(relname)),
		           (SELECT concat_ws(' ', count(*), sum(attnum)) FROM pg_attribute WHERE attrelid >= 16384),
		           (SELECT concat_ws(' ', count(*), sum(oid::bigint)) FROM pg_constraint WHERE oid >= 16384),
		           (SELECT concat_ws(' ', count(*), sum(oid::bigint)) FROM pg_trigger WHERE oid >= 16384),
		           (SELECT concat_ws(' ', count(*), sum(oid::bigint)) FROM pg_proc WHERE oid >= 16384),
		           (SELECT 'locked' FROM pg_locks WHERE locktype = 'advisory'
		                AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) LIMIT 1)),
		       coalesce(sum(pg_relation_size(oid)) FILTER (WHERE relkind = 'r'), 0)
		FROM pg_class WHERE oid >= 16384`
	// sessionsThere returns those in the database, after it has told those that are not in $1 to end.
	sessionsThere = `
		SELECT pid, CASE WHEN NOT pid = ANY ($1::integer[]) THEN pg_terminate_backend(pid) END FROM pg_stat_activity
		WHERE datname = current_database() AND backend_type = 'client backend'`
	tooMuch = 1 << 20 // bytes, that are not deleted one row after the other
)

// clean makes the database as it was when it was new. It returns false if that is not worth it, or not possible.
func (d *database) clean(t *testing.T) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if s := d.pool.Stat(); s.AcquiredConns() > 0 || s.ConstructingConns() > 0 {
		return false
	}
	all := d.pool.AcquireAllIdle(ctx)
	defer func() {
		for _, conn := range all {
			conn.Release()
		}
	}()
	if len(all) == 0 {
		return false
	}
	conn := all[0].Conn()
	if alone, err := d.isAlone(ctx, conn, all); err != nil || !alone {
		return false
	}
	var now string
	var size int
	if err := conn.QueryRow(ctx, schemaAndSize).Scan(&now, &size); err != nil || now != d.schema || size > tooMuch {
		return false
	}
	_, err := conn.Exec(ctx, d.empty)
	return err == nil
}

// isAlone has all sessions end but those of the pool: the client of one may be gone, and what it has asked for still
// be done. It returns false if one of the pool has ended too.
func (d *database) isAlone(ctx context.Context, conn *pgx.Conn, all []*pgxpool.Conn) (bool, error) {
	var ours []int32
	for _, c := range all {
		ours = append(ours, int32(c.Conn().PgConn().PID())) //nolint:gosec // PostgreSQL has it as an integer
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		rows, err := conn.Query(ctx, sessionsThere, ours)
		if err != nil {
			return false, err
		}
		type session struct {
			PID   int32
			Ended *bool
		}
		there, err := pgx.CollectRows(rows, pgx.RowToStructByPos[session])
		if err != nil {
			return false, err
		}
		of := 0
		for _, s := range there {
			if slices.Contains(ours, s.PID) {
				of++
			}
		}
		if of < len(ours) {
			return false, nil
		}
		if len(there) == of {
			return true, nil
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-tick.C:
		}
	}
}
