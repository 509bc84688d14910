package pgtest

import (
	"context"
	"crypto/rand"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"
)

// TestMain checks that the shared server needs no goroutine, so that packages with leak detection
// can use it.
func TestMain(m *testing.M) { goleak.VerifyTestMain(Main{M: m}) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// texts executes a statement, and returns the values that it selects.
func texts(t *testing.T, address, sql string, args ...any) (values []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), operationTimeout)
	defer cancel()
	err := execute(ctx, address, func(conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, sql, args...)
		if err != nil {
			return err
		}
		values, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return values
}

// TestDatabases checks that databases are migrated or empty, independent, and dropped after the
// test even if a connection is open.
func TestDatabases(t *testing.T) {
	t.Parallel()
	const tables = `SELECT table_name::text FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1`
	var names []string
	var open *pgx.Conn
	t.Run("during the test", func(t *testing.T) {
		first, empty := New(t), Empty(t)
		migrated := texts(t, first, tables)
		if len(migrated) < 2 || len(texts(t, empty, tables)) > 0 {
			t.Errorf("a migrated database has %v, an empty one %v", migrated, texts(t, empty, tables))
		}
		texts(t, first, "CREATE TABLE mine ()")
		if got := texts(t, New(t), tables); !slices.Equal(got, migrated) {
			t.Errorf("another database has %v, want %v", got, migrated)
		}
		if got := texts(t, Copy(t, first), tables); len(got) != len(migrated)+1 {
			t.Errorf("a copy has %v", got)
		}
		for _, address := range []string{first, empty} {
			names = append(names, texts(t, address, "SELECT current_database()")...)
		}
		var err error
		open, err = pgx.Connect(t.Context(), first)
		must(t, err)
	})
	defer open.Close(context.Background()) //nolint:errcheck // the server has closed it
	if got := texts(t, testServer(t), "SELECT datname FROM pg_database WHERE datname = ANY ($1)", names); len(got) != 0 {
		t.Errorf("%v still exist", got)
	}
}

func TestStaleDatabasesAreDropped(t *testing.T) {
	t.Parallel()
	now, server, id := time.Now(), testServer(t), strings.ToLower(rand.Text()[:12])
	old, recent := databaseName(now.Add(-staleAge-time.Hour), id), databaseName(now.Add(time.Hour-staleAge), id)
	busy, own := databaseName(now.Add(-2*staleAge), id), namePrefix+"own_"+id
	all := []string{old, recent, busy, own}
	// Hold the lock while there are stale databases. Otherwise, another process that makes its
	// template would drop them.
	holder, err := pgx.Connect(t.Context(), server)
	must(t, err)
	defer holder.Close(context.Background()) //nolint:errcheck // the lock ends with it
	_, err = holder.Exec(t.Context(), "SELECT pg_advisory_lock($1)", templateLock)
	must(t, err)
	for _, name := range all {
		must(t, admin.execute(server, "CREATE DATABASE "+quoted(name)))
		cleanupWith(t, func() error { return dropDatabase(server, name) })
	}
	address, err := databaseURL(server, busy)
	must(t, err)
	user, err := pgx.Connect(t.Context(), address)
	must(t, err)
	defer user.Close(context.Background()) //nolint:errcheck // the database is dropped
	dropStale(t.Context(), user, now)
	got := texts(t, server,
		"SELECT datname FROM pg_database WHERE datname = ANY ($1) ORDER BY array_position($1, datname::text)", all)
	if want := all[1:]; !slices.Equal(got, want) {
		t.Errorf("remaining databases: %v, want %v", got, want)
	}
}

// TestNoDatabaseIsAFailure checks that, without a server, a test fails with the reason. That test
// runs in another process.
func TestNoDatabaseIsAFailure(t *testing.T) {
	t.Parallel()
	for sentence, environment := range map[string][]string{
		"no Docker engine answers": {"ELOBOT_TEST_POSTGRES=container", "DOCKER_HOST=unix:///nonexistent/docker.sock"},
		"connect":                  {"TEST_DATABASE_URL=postgres://127.0.0.1:1/x?sslmode=disable"},
	} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestDatabases$", "-test.v", "-test.timeout=2m")
		cmd.Env = slices.Concat(os.Environ(), []string{urlVariable + "=", choiceVariable + "="}, environment)
		cmd.WaitDelay = 10 * time.Second // do not wait forever for a server that holds the output open
		output, err := cmd.CombinedOutput()
		if err == nil || strings.Contains(string(output), "--- SKIP") || !strings.Contains(string(output), sentence) {
			t.Errorf("without a database the test ends with %v, and its output does not contain %q: %s", err, sentence, output)
		}
	}
}
