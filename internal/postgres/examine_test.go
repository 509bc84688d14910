package postgres_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/pgtemp"
	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres"
	"elobot/internal/postgres/dbtest"
)

// TestRights checks that Owns is true for the role that owns the tables, and for a member of that
// role. For other roles it is false, whatever is granted to them.
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

// follow receives the server's write-ahead log, as a standby does, until the test ends.
func follow(t *testing.T, url string) {
	t.Helper()
	conn, err := pgconn.Connect(t.Context(), pgtest.WithParameter(url, "replication", "database"))
	dbtest.Must(t, err)
	ctx, stop := context.WithCancel(context.Background())
	receiving := make(chan struct{})
	t.Cleanup(func() {
		stop()
		<-receiving
		_ = conn.Close(context.Background()) // stop has broken the connection
	})
	system, err := conn.Exec(ctx, "IDENTIFY_SYSTEM").ReadAll()
	dbtest.Must(t, err)
	position := string(system[0].Rows[0][2])
	conn.Frontend().SendQuery(&pgproto3.Query{String: "START_REPLICATION PHYSICAL " + position})
	dbtest.Must(t, conn.Frontend().Flush())
	go func() {
		defer close(receiving)
		for {
			if _, err := conn.ReceiveMessage(ctx); err != nil {
				return
			}
		}
	}()
}

// TestAsynchronousStandbys checks that ExamineServer counts standbys only if no synchronous standby
// is configured. A role that may not see the details of standbys gets the same count.
func TestAsynchronousStandbys(t *testing.T) {
	t.Parallel()
	server, err := pgtemp.Start(t.Context(), pgtemp.Options{Settings: map[string]string{"fsync": "off"}})
	dbtest.Must(t, err)
	t.Cleanup(func() { dbtest.Must(t, server.Stop(context.Background())) })
	admin := dbtest.Open(t, server.URL())
	dbtest.Exec(t, admin, "CREATE ROLE guest")
	guest := dbtest.Open(t, pgtest.WithParameter(server.URL(), "role", "guest"))
	check := func(when string, want int) {
		t.Helper()
		for name, pool := range map[string]*pgxpool.Pool{"the superuser": admin, "a guest": guest} {
			f, err := postgres.ExamineServer(t.Context(), pool)
			dbtest.Must(t, err)
			if f.Asynchronous != want {
				t.Errorf("%s, %s counts %d standbys, want %d", when, name, f.Asynchronous, want)
			}
		}
	}
	check("alone", 0)
	follow(t, server.URL())
	dbtest.Await(t, admin, "SELECT EXISTS (SELECT FROM pg_stat_replication WHERE state = 'streaming')")
	check("with a standby", 1)
	dbtest.Exec(t, admin, "ALTER SYSTEM SET synchronous_standby_names = 'other'")
	dbtest.Exec(t, admin, "SELECT pg_reload_conf()")
	dbtest.Await(t, admin, "SELECT current_setting('synchronous_standby_names') = 'other'")
	check("with a synchronous standby", 0)
}

// TestCollationVersions checks that the recorded and the actual collation versions are equal in a
// new database, and in a database without a recorded version. They differ if the indexes were
// sorted by another version.
func TestCollationVersions(t *testing.T) {
	t.Parallel()
	pool := dbtest.Open(t, pgtest.New(t))
	f, err := postgres.ExamineServer(t.Context(), pool)
	dbtest.Must(t, err)
	if f.Collation != f.ActualCollation {
		t.Errorf("a new database: %+v", f)
	}
	const record = "UPDATE pg_database SET datcollversion = $1 WHERE datname = current_database()"
	dbtest.Exec(t, pool, record, "0.1")
	moved, err := postgres.ExamineServer(t.Context(), pool)
	dbtest.Must(t, err)
	if moved.Collation != "0.1" || moved.ActualCollation != f.ActualCollation ||
		moved.Database != pool.Config().ConnConfig.Database {
		t.Errorf("on another server: %+v", moved)
	}
	dbtest.Exec(t, pool, record, nil)
	unknown, err := postgres.ExamineServer(t.Context(), pool)
	dbtest.Must(t, err)
	if unknown.Collation != unknown.ActualCollation {
		t.Errorf("without a recorded version: %+v", unknown)
	}
}
