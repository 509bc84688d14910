package pgtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"
)

// TestMain checks that the shared server needs no goroutine, so that packages with leak detection can use it.
func TestMain(m *testing.M) { goleak.VerifyTestMain(Main{M: m}) }

// on runs do on a connection. For the shared server it uses the connection that is open already.
func on(ctx context.Context, t *testing.T, address string, do func(*pgx.Conn) error) error {
	t.Helper()
	if address == Server(t) {
		return admin.execute(address, func(_ context.Context, conn *pgx.Conn) error { return do(conn) })
	}
	return execute(ctx, address, do)
}

func do(t *testing.T, address string, statements ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), operationTimeout)
	defer cancel()
	err := on(ctx, t, address, func(conn *pgx.Conn) error {
		for _, statement := range statements {
			if _, err := conn.Exec(ctx, statement); err != nil {
				return errors.Join(errors.New(statement), err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func texts(t *testing.T, address, sql string, args ...any) (values []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), operationTimeout)
	defer cancel()
	err := on(ctx, t, address, func(conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, sql, args...)
		if err != nil {
			return err
		}
		values, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return values
}

const tables = `SELECT table_name::text FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1`

func TestClonesAreIndependent(t *testing.T) {
	t.Parallel()
	first, second := New(t), New(t)
	if first == second {
		t.Fatalf("both databases are %s", first)
	}
	if got := texts(t, first, tables); len(got) < 2 {
		t.Errorf("the migrations created only %v", got)
	}
	if got := texts(t, first, "SELECT dirty::text FROM schema_migrations"); len(got) != 1 || got[0] != "false" {
		t.Errorf("schema_migrations has dirty = %v", got)
	}
	do(t, first, "CREATE TABLE mine ()")
	if got := strings.Join(texts(t, second, tables), " "); strings.Contains(got, "mine") {
		t.Errorf("a table of the first database is in the second: %s", got)
	}
	if got := strings.Join(texts(t, New(t), tables), " "); strings.Contains(got, "mine") {
		t.Errorf("a table of the first database is in the template: %s", got)
	}
}

func TestEmptyHasNoTables(t *testing.T) {
	t.Parallel()
	if got := texts(t, Empty(t), tables); len(got) != 0 {
		t.Errorf("an empty database contains %v", got)
	}
}

//nolint:paralleltest,tparallel // the test checks the result of each subtest after its end
func TestDatabasesAreDroppedAfterTest(t *testing.T) {
	t.Parallel()
	for name, database := range map[string]func(testing.TB) string{"New": New, "Empty": Empty} {
		var dropped string
		var open *pgx.Conn // an open connection must not prevent the drop
		t.Run(name, func(t *testing.T) {
			address := database(t)
			dropped = texts(t, address, "SELECT current_database()")[0]
			var err error
			if open, err = pgx.Connect(t.Context(), address); err != nil {
				t.Fatal(err)
			}
		})
		open.Close(context.Background()) //nolint:errcheck // the server has closed it
		if got := texts(t, Server(t), "SELECT datname FROM pg_database WHERE datname = $1", dropped); len(got) != 0 {
			t.Errorf("%s still exists", dropped)
		}
	}
}

func TestTemplateNameDependsOnMigrations(t *testing.T) {
	t.Parallel()
	now := time.Now()
	names := map[string]string{}
	for what, files := range map[string]fstest.MapFS{
		"one":           {"1.up.sql": {Data: []byte("a")}},
		"other content": {"1.up.sql": {Data: []byte("b")}},
		"other name":    {"2.up.sql": {Data: []byte("a")}},
		"one more":      {"1.up.sql": {Data: []byte("a")}, "2.up.sql": {Data: []byte("")}},
	} {
		name, err := templateName(files, now)
		if err != nil {
			t.Fatal(err)
		}
		if before, taken := names[name]; taken {
			t.Errorf("%q and %q have the same template", before, what)
		}
		names[name] = what
	}
	again, err := templateName(fstest.MapFS{"1.up.sql": {Data: []byte("a")}, "doc.go": {Data: []byte("c")}}, now)
	if err != nil || names[again] != "one" {
		t.Errorf("the same migrations lead to the template of %q, %v", names[again], err)
	}
}

func TestBrokenMigrationLeavesNoTemplate(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"000001_x.up.sql": {Data: []byte("CREATE TABEL x ()")}}
	name, err := makeTemplate(t.Context(), Server(t), files)
	if err == nil || !strings.Contains(err.Error(), "run migrations") {
		t.Errorf("broken migration: %v", err)
	}
	// The next process that makes a template drops the remains.
	files["000001_x.up.sql"].Data = []byte("CREATE TABLE x ()")
	repaired, err := makeTemplate(t.Context(), Server(t), files)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := dropDatabase(Server(t), repaired); err != nil {
			t.Error(err)
		}
	})
	if got := texts(t, Server(t), "SELECT datname FROM pg_database WHERE starts_with(datname, $1)", name); len(got) != 0 {
		t.Errorf("the broken migration left %v", got)
	}
}

func TestStaleDatabasesAreDropped(t *testing.T) {
	t.Parallel()
	now, server, id := time.Now(), Server(t), strings.ToLower(rand.Text()[:12])
	old, recent := databaseName(now.Add(-staleAge-time.Hour), id), databaseName(now.Add(time.Hour-staleAge), id)
	busy, own := databaseName(now.Add(-2*staleAge), id), namePrefix+"own_"+id
	all := []string{old, recent, busy, own}
	for _, name := range all {
		t.Cleanup(func() {
			if err := dropDatabase(server, name); err != nil {
				t.Error(err)
			}
		})
	}
	// Take the lock before creating stale databases: another test that makes its template would drop them too.
	err := execute(t.Context(), server, func(conn *pgx.Conn) error {
		if _, err := conn.Exec(t.Context(), "SELECT pg_advisory_lock($1)", templateLock); err != nil {
			return err
		}
		for _, name := range all {
			do(t, server, "CREATE DATABASE "+quoted(name))
		}
		used, err := databaseURL(server, busy)
		if err != nil {
			return err
		}
		return execute(t.Context(), used, func(*pgx.Conn) error { return dropStale(t.Context(), conn, now) })
	})
	if err != nil {
		t.Fatal(err)
	}
	got := texts(t, server, "SELECT datname FROM pg_database WHERE datname = ANY ($1) ORDER BY array_position($1, datname::text)", all)
	if want := all[1:]; !slices.Equal(got, want) {
		t.Errorf("remaining databases: %v, want %v", got, want)
	}
}

func TestDatabaseURL(t *testing.T) {
	t.Parallel()
	for server, want := range map[string]string{
		"postgres://u:p%40@h:1/a?sslmode=disable": "postgres://u:p%40@h:1/new?sslmode=disable",
		"postgresql://h":                     "postgresql://h/new",
		"postgres://h/a?dbname=b&x=y":        "postgres://h/new?x=y",
		"postgres:///a?host=/run/postgresql": "postgres:///new?host=%2Frun%2Fpostgresql",
		"host=localhost dbname=a":            "",
		"postgres://u:secret@[::1/a":         "",
	} {
		got, err := databaseURL(server, "new")
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v, want %q", server, got, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("the error contains the password: %v", err)
		}
	}
}

// TestTemplateIsMadeOnce makes the same template concurrently. If possible it does so as a role that may create databases
// and nothing else.
func TestTemplateIsMadeOnce(t *testing.T) {
	t.Parallel()
	server := Server(t)
	files := fstest.MapFS{"000001_x.up.sql": {Data: []byte("CREATE TABLE " + quoted(cloneName()) + " ()")}}
	name, err := templateName(files, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	address := server
	if texts(t, server, "SELECT rolsuper::text FROM pg_roles WHERE rolname = current_user")[0] == "true" {
		role := "elobot_tester_" + strings.ToLower(rand.Text())
		do(t, server, "CREATE ROLE "+role+" LOGIN CREATEDB PASSWORD 'tester'")
		t.Cleanup(func() { do(t, server, "DROP DATABASE IF EXISTS "+quoted(name), "DROP ROLE "+role) })
		parsed, err := url.Parse(server)
		if err != nil {
			t.Fatal(err)
		}
		parsed.User = url.UserPassword(role, "tester")
		address = parsed.String()
	}
	var makers errgroup.Group
	for range 3 {
		makers.Go(func() error {
			made, err := makeTemplate(t.Context(), address, files)
			if err == nil && made != name {
				err = fmt.Errorf("template = %s, want %s", made, name)
			}
			return err
		})
	}
	if err := makers.Wait(); err != nil {
		t.Fatal(err)
	}
	copied := cloneName()
	do(t, address, "CREATE DATABASE "+quoted(copied)+" TEMPLATE "+quoted(name), "DROP DATABASE "+quoted(copied), "DROP DATABASE "+quoted(name))
}

// runTestProcess runs one test of this package in its own process and returns its output.
func runTestProcess(t *testing.T, test string, environment ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*operationTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^"+test+"$", "-test.v", "-test.timeout=2m")
	cmd.Env = slices.DeleteFunc(os.Environ(), func(pair string) bool {
		return strings.HasPrefix(pair, "TEST_DATABASE_URL=") || strings.HasPrefix(pair, "ELOBOT_TEST_POSTGRES=")
	})
	cmd.Env = append(cmd.Env, environment...)
	// A server that held the output open would block this.
	cmd.WaitDelay = 10 * time.Second
	output, err := cmd.CombinedOutput()
	return string(output), err
}

func mustFail(t *testing.T, output string, err error, sentence string) {
	t.Helper()
	if err == nil || strings.Contains(output, "--- SKIP") || !strings.Contains(output, sentence) {
		t.Errorf("without a database the test ends with %v, and its output does not contain %q: %s", err, sentence, output)
	}
}

// TestReportsItsServer is run by other tests in another process. It lasts until its standard input ends.
func TestReportsItsServer(t *testing.T) {
	t.Parallel()
	fmt.Printf("%s %d %s\n", reportMark, os.Getpid(), Server(t))
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		t.Error(err)
	}
}

// reportMark is the prefix of the line that such a process prints.
const reportMark = "this is process"

func TestNoDatabaseIsAFailure(t *testing.T) {
	t.Parallel()
	for sentence, environment := range map[string][]string{
		"TEST_DATABASE_URL: it must begin with postgres://": {"TEST_DATABASE_URL=localhost"},
		"which is neither programs nor container":           {"ELOBOT_TEST_POSTGRES=sqlite"},
		"no Docker engine answers":                          {"ELOBOT_TEST_POSTGRES=container", "DOCKER_HOST=unix:///nonexistent/docker.sock"},
		"connect":                                           {"TEST_DATABASE_URL=postgres://127.0.0.1:1/x?sslmode=disable"},
	} {
		output, err := runTestProcess(t, "TestEmptyHasNoTables", environment...)
		mustFail(t, output, err, sentence)
	}
}
