package postgres_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres"
	"elobot/internal/postgres/dbtest"
	"elobot/migrations"
)

// withNext returns the real migrations followed by one more.
func withNext(t *testing.T) fs.FS {
	t.Helper()
	files := make(fstest.MapFS)
	names, err := fs.Glob(migrations.FS, "*.sql")
	dbtest.Must(t, err)
	for _, name := range names {
		data, err := fs.ReadFile(migrations.FS, name)
		dbtest.Must(t, err)
		files[name] = &fstest.MapFile{Data: data}
	}
	files[fmt.Sprintf("%06d_next.up.sql", newestStep(t)+1)] = &fstest.MapFile{Data: []byte("CREATE TABLE next ()")}
	return files
}

// TestCheckSchema checks that CheckSchema returns an error unless the schema is at exactly the
// newest version. The error tells the operator why. CheckSchema changes nothing.
func TestCheckSchema(t *testing.T) {
	t.Parallel()
	pool, newest := dbtest.Open(t, pgtest.Empty(t)), newestStep(t)
	next := withNext(t)
	for _, tc := range []struct {
		name  string
		files fs.FS // the migrations to run first
		sql   string
		want  []string // parts of the error text; empty for no error
	}{
		{name: "nothing there", want: []string{"nothing of elobot", "`elobot run`"}},
		{name: "something else", sql: "CREATE TABLE matches (id bigint)", want: []string{"nothing of elobot", "`elobot run`"}},
		{
			name: "older", sql: "DROP TABLE matches", files: migrations.FS,
			want: []string{fmt.Sprint("version ", newest), fmt.Sprint("needs ", newest+1), "`elobot run`"},
		},
		{name: "half a step", sql: fmt.Sprintf("UPDATE schema_migrations SET version = %d, dirty = true", newest+1), want: []string{"`elobot run`"}},
		{name: "newest", files: next},
		{
			name: "newer", sql: "UPDATE schema_migrations SET version = 1000",
			want: []string{"version 1000", "newer elobot", fmt.Sprint("knows ", newest+1)},
		},
		{name: "before the first release", sql: "UPDATE schema_migrations SET version = 111", want: []string{"before version 0.1.0"}},
		{name: "about to begin", sql: "TRUNCATE schema_migrations", want: []string{"nothing of elobot", "`elobot run`"}},
	} {
		dbtest.Exec(t, pool, tc.sql)
		if tc.files != nil {
			dbtest.Migrate(t, pool, tc.files)
		}
		before := schema(t, pool)
		err := postgres.CheckSchema(t.Context(), pool, next)
		if (err == nil) != (len(tc.want) == 0) {
			t.Fatalf("%s: error is %v", tc.name, err)
		}
		for _, w := range tc.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q does not contain %q", tc.name, err, w)
			}
		}
		dbtest.Equal(t, tc.name+": the database was changed", before, schema(t, pool))
	}
}

func TestCheckSchemaWithoutDatabase(t *testing.T) {
	t.Parallel()
	pool := dbtest.Open(t, dbtest.ClosedPort(t))
	if err := postgres.CheckSchema(t.Context(), pool, migrations.FS); !postgres.Unavailable(err) {
		t.Errorf("error is %v", err)
	}
}
