package postgres_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres"
	"elobot/internal/postgres/dbtest"
)

// TestRights: a role needs to own the bot's tables, itself or through another role.
func TestRights(t *testing.T) {
	t.Parallel()
	database := pgtest.New(t)
	admin := dbtest.Open(t, database)
	tables := dbtest.Values[string](t, admin, `SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'`)
	unique := time.Now().UnixNano()
	owner, member, guest := fmt.Sprint("owner_", unique), fmt.Sprint("member_", unique), fmt.Sprint("guest_", unique)
	replace := strings.NewReplacer("OWNER", owner, "MEMBER", member, "GUEST", guest).Replace
	for _, sql := range []string{
		"CREATE ROLE OWNER", "CREATE ROLE MEMBER IN ROLE OWNER", "CREATE ROLE GUEST", "GRANT CREATE ON SCHEMA public TO OWNER, GUEST",
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
		owns            bool
	}{
		{"the owner", owner, "", true},
		{"a member of the owner", member, "", true},
		{"without grants", guest, "", false},
		{"with all grants", guest, "GRANT ALL ON ALL TABLES IN SCHEMA public TO GUEST", false},
	} {
		dbtest.Exec(t, admin, replace(tc.sql))
		pool := dbtest.Open(t, pgtest.WithParameter(database, "role", tc.role))
		f, err := postgres.ExamineServer(t.Context(), pool)
		dbtest.Must(t, err)
		if !f.MayCreate || f.Owns != tc.owns {
			t.Errorf("%s: %+v", tc.name, f)
		}
	}
}
