package postgres_test

import (
	"io/fs"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres"
	"elobot/internal/postgres/dbtest"
	"elobot/migrations"
)

// TestCheckSchema takes one database through all possible states.
func TestCheckSchema(t *testing.T) {
	t.Parallel()
	pool := dbtest.Open(t, pgtest.Empty(t))
	for _, tc := range []struct {
		name  string
		files fs.FS // the migrations to run first
		sql   string
		want  []string // parts of the error text; none for no error
	}{
		{name: "nothing there", want: []string{"nothing of elobot", "`elobot run`"}},
		{name: "something else", sql: "CREATE TABLE matches (id bigint)", want: []string{"nothing of elobot", "`elobot run`"}},
		{
			name: "older", sql: "DROP TABLE matches", files: firstStep(t),
			want: []string{"version 1", "needs " + strconv.Itoa(newestStep(t)), "`elobot run`"},
		},
		{name: "half a step", sql: "UPDATE schema_migrations SET version = 2, dirty = true", want: []string{"`elobot run`"}},
		{name: "newest", files: migrations.FS},
		{
			name: "newer", sql: "UPDATE schema_migrations SET version = 1000",
			want: []string{"version 1000", "newer elobot", "knows " + strconv.Itoa(newestStep(t))},
		},
		{name: "about to begin", sql: "TRUNCATE schema_migrations", want: []string{"nothing of elobot", "`elobot run`"}},
	} {
		dbtest.Exec(t, pool, tc.sql)
		if tc.files != nil {
			dbtest.Migrate(t, pool, tc.files)
		}
		before := schema(t, pool)
		err := postgres.CheckSchema(t.Context(), pool, migrations.FS)
		if (err == nil) != (len(tc.want) == 0) {
			t.Fatalf("%s: error is %v", tc.name, err)
		}
		for _, w := range tc.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q does not contain %q", tc.name, err, w)
			}
		}
		if diff := cmp.Diff(before, schema(t, pool)); diff != "" {
			t.Errorf("%s: the database was changed:\n%s", tc.name, diff)
		}
	}
}

func TestCheckSchemaWithoutDatabase(t *testing.T) {
	t.Parallel()
	pool := dbtest.Open(t, dbtest.ClosedPort(t))
	if err := postgres.CheckSchema(t.Context(), pool, migrations.FS); !postgres.Unavailable(err) {
		t.Errorf("error is %v", err)
	}
}
