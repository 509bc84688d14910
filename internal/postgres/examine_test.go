package postgres_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres"
	"elobot/internal/postgres/dbtest"
	"elobot/migrations"
)

// TestTablesOfTheMigrations: the names found in the files are those of the tables that they make.
func TestTablesOfTheMigrations(t *testing.T) {
	t.Parallel()
	got, err := postgres.TablesOf(migrations.FS)
	dbtest.Must(t, err)
	slices.Sort(got)
	want := dbtest.Values[string](t, dbtest.Open(t, pgtest.New(t)), `SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'`)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tables (-want +got):\n%s", diff)
	}
}

// TestRights: a role needs to own the bot's tables, itself or through another role. Tables of other programs do not matter.
func TestRights(t *testing.T) {
	t.Parallel()
	database := pgtest.New(t)
	admin := dbtest.Open(t, database)
	tables, err := postgres.TablesOf(migrations.FS)
	dbtest.Must(t, err)
	slices.Sort(tables)
	unique := time.Now().UnixNano()
	owner, member, guest := fmt.Sprint("owner_", unique), fmt.Sprint("member_", unique), fmt.Sprint("guest_", unique)
	replace := strings.NewReplacer("OWNER", owner, "MEMBER", member, "GUEST", guest).Replace
	for _, sql := range []string{
		"CREATE ROLE OWNER", "CREATE ROLE MEMBER IN ROLE OWNER", "CREATE ROLE GUEST", "GRANT CREATE ON SCHEMA public TO OWNER, GUEST",
		"CREATE TABLE of_another_program ()",
	} {
		dbtest.Exec(t, admin, replace(sql))
	}
	defer func() {
		for _, role := range []string{member, guest, owner} {
			dbtest.Exec(t, admin, "DROP OWNED BY "+role+" CASCADE")
			dbtest.Exec(t, admin, "DROP ROLE "+role)
		}
	}()
	for _, table := range tables {
		dbtest.Exec(t, admin, "ALTER TABLE "+table+" OWNER TO "+owner)
	}
	for _, tc := range []struct {
		name, role, sql string
		notOwned        []string
	}{
		{"the owner", owner, "", nil},
		{"a member of the owner", member, "", nil},
		{"without grants", guest, "", tables},
		{"with all grants", guest, "GRANT ALL ON ALL TABLES IN SCHEMA public TO GUEST", tables},
	} {
		dbtest.Exec(t, admin, replace(tc.sql))
		pool := dbtest.Open(t, pgtest.WithParameter(database, "role", tc.role))
		f, err := postgres.ExamineServer(t.Context(), pool, migrations.FS)
		dbtest.Must(t, err)
		if !f.MayCreate || !slices.Equal(f.NotOwned, tc.notOwned) {
			t.Errorf("%s: %+v", tc.name, f)
		}
	}
}
