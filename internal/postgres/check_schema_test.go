package postgres_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres"
	"elobot/migrations"
)

func TestCheckSchema(t *testing.T) {
	t.Parallel()
	older := func(t *testing.T, pool *pgxpool.Pool) { migrate(t, pool, firstStep(t)) }
	newest := func(t *testing.T, pool *pgxpool.Pool) { migrate(t, pool, migrations.FS) }
	for name, tc := range map[string]struct {
		prepare func(*testing.T, *pgxpool.Pool)
		sql     string
		want    []string // what the error says; none for no error
	}{
		"newest":         {prepare: newest},
		"nothing there":  {want: []string{"nothing of elobot", "`elobot run`"}},
		"something else": {sql: "CREATE TABLE matches (id bigint)", want: []string{"nothing of elobot", "`elobot run`"}},
		"about to begin": {prepare: newest, sql: "TRUNCATE schema_migrations", want: []string{"nothing of elobot", "`elobot run`"}},
		"older":          {prepare: older, want: []string{"version 1", "needs " + strconv.Itoa(newestStep(t)), "`elobot run`"}},
		"half a step":    {prepare: older, sql: "UPDATE schema_migrations SET version = 2, dirty = true", want: []string{"`elobot run`"}},
		"newer": {
			prepare: newest, sql: "UPDATE schema_migrations SET version = 1000",
			want: []string{"version 1000", "newer elobot", "knows " + strconv.Itoa(newestStep(t))},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := open(t, pgtest.Empty(t))
			if tc.prepare != nil {
				tc.prepare(t, pool)
			}
			if tc.sql != "" {
				exec(t, pool, tc.sql)
			}
			before := schema(t, pool)
			err := postgres.CheckSchema(t.Context(), pool, migrations.FS)
			if (err == nil) != (len(tc.want) == 0) {
				t.Fatalf("error is %v", err)
			}
			for _, w := range tc.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q does not say %q", err, w)
				}
			}
			if diff := cmp.Diff(before, schema(t, pool)); diff != "" {
				t.Errorf("the database was changed:\n%s", diff)
			}
		})
	}
}

func TestCheckSchemaWithoutDatabase(t *testing.T) {
	t.Parallel()
	pool := open(t, closedPort(t))
	if err := postgres.CheckSchema(t.Context(), pool, migrations.FS); !postgres.Unavailable(err) {
		t.Errorf("error is %v", err)
	}
}
