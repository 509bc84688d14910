package pgtest

import (
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestBorrow runs tests that change a borrowed database in many ways. The next test must get a database in its original
// state, and the same one if only rows were written.
//
//nolint:paralleltest,tparallel // the subtests depend on their order, and no other test may borrow
func TestBorrow(t *testing.T) {
	t.Parallel()
	state := func(d *Database) string {
		t.Helper()
		var s string
		if err := d.Pool.QueryRow(t.Context(), `
			SELECT concat_ws(' ', (SELECT count(*) FROM chats), nextval('chats_id_seq'), setval('chats_id_seq', 1, false),
			    (SELECT count(*) FROM pg_attribute WHERE attrelid >= 16384),
			    (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = d.oid),
			    (SELECT count(*) FROM pg_stat_activity WHERE datid = d.oid AND application_name = 'outsider'))
			FROM pg_database d WHERE datname = current_database()`).Scan(&s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	exec := func(sql string) func(*testing.T, *Database) {
		return func(t *testing.T, d *Database) {
			t.Helper()
			if _, err := d.Pool.Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
		}
	}
	const row = "INSERT INTO chats (telegram_chat_id, kind, title) VALUES (1, 'group', 'x')"
	var initial, url string
	t.Run("the first one", func(t *testing.T) {
		d := Borrow(t)
		initial, url = state(d), d.URL
	})
	for _, tc := range []struct {
		name string
		do   func(*testing.T, *Database)
		same bool
	}{
		{"nothing", func(*testing.T, *Database) {}, true},
		{"rows", exec(row), true},
		{"an open transaction of another client", func(t *testing.T, d *Database) {
			t.Helper()
			outsider, err := pgx.Connect(t.Context(), WithParameter(d.URL, "application_name", "outsider"))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := outsider.Exec(t.Context(), "BEGIN; "+row); err != nil {
				t.Error(err)
			}
			t.Cleanup(func() { _ = outsider.PgConn().Conn().Close() }) // the server may still be executing
		}, true},
		{"a lock", exec("SELECT pg_advisory_lock(1)"), false},
		{"another column", exec("ALTER TABLE chats ADD COLUMN another text"), false},
		{"many rows", exec("INSERT INTO handled_commands (key) SELECT repeat('x', 1000) || n FROM generate_series(1, 2000) n"), false},
		{"a connection that is in use", func(t *testing.T, d *Database) {
			t.Helper()
			conn, err := d.Pool.Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(conn.Release)
		}, true},
		{"many connections", func(t *testing.T, d *Database) {
			t.Helper()
			onSessions(t, d, maxIdleSessions+1, "SELECT 1 / (current_setting('lock_timeout') = '1234ms')::int")
		}, true},
		{"reverted changes", tryChanges, true},
		{"another migration version", exec("UPDATE schema_migrations SET version = version + 1"), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := BorrowWith(t, "SET lock_timeout = 1234")
			onSessions(t, d, 1, "SELECT 1 / (current_setting('lock_timeout') = '1234ms')::int")
			tc.do(t, d)
		})
		t.Run("after "+tc.name, func(t *testing.T) {
			d := Borrow(t)
			if got := state(d); got != initial {
				t.Errorf("state = %q, want %q", got, initial)
			}
			const sessions = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'"
			var there int
			if err := d.Pool.QueryRow(t.Context(), sessions).Scan(&there); err != nil || there > maxIdleSessions {
				t.Errorf("it has %d sessions, want %d at the most (%v)", there, maxIdleSessions, err)
			}
			onSessions(t, d, 1, "SELECT 1 / (current_setting('lock_timeout') = '0')::int")
			if (d.URL == url) != tc.same {
				t.Errorf("borrowed %s after %s", d.URL, url)
			}
			url = d.URL
		})
	}
}

// onSessions executes a statement on the given number of connections at once.
func onSessions(t *testing.T, d *Database, sessions int, sql string) {
	t.Helper()
	for range sessions {
		conn, err := d.Pool.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Release()
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// tryChanges checks the fingerprint of a database after each of many changes. All changes but those of rows must change it.
func tryChanges(t *testing.T, d *Database) {
	t.Helper()
	const function = " FUNCTION require_one_chat() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'"
	const trigger = "CREATE TRIGGER new BEFORE UPDATE ON chats FOR EACH ROW EXECUTE FUNCTION require_one_chat();"
	for _, tc := range []struct {
		sql  string
		same bool
	}{
		{"INSERT INTO chats (telegram_chat_id, kind) VALUES (1, 'group'); DELETE FROM chats", true},
		{trigger + "DROP TRIGGER new ON chats", true},
		{"CREATE TABLE new (); DROP TABLE new", true},
		{trigger, false},
		{"ALTER TABLE chats DISABLE TRIGGER chats_no_alias", false},
		{"CREATE OR REPLACE" + function, false},
		{"ALTER FUNCTION require_one_chat() SET lock_timeout = 0", false},
		{"CREATE TABLE new ()", false},
		{"ALTER TABLE chats RENAME TO new", false},
		{"ALTER TABLE chats SET (fillfactor = 50)", false},
		{"ALTER TABLE chats ENABLE ROW LEVEL SECURITY", false},
		{"GRANT SELECT ON chats TO PUBLIC", false},
		{"ALTER TABLE chats ADD COLUMN new text", false},
		{"ALTER TABLE chats DROP COLUMN title", false},
		{"ALTER TABLE chats ADD COLUMN new text; ALTER TABLE chats DROP COLUMN new", false},
		{"ALTER TABLE chats ALTER title SET DEFAULT 'new'", false},
		{"ALTER TABLE chats ALTER title DROP NOT NULL", false},
		{"ALTER TABLE chats DROP CONSTRAINT chats_kind_check; ALTER TABLE chats ADD CONSTRAINT chats_kind_check CHECK (true)", false},
		{"DROP INDEX chats_parked_idx; CREATE INDEX chats_parked_idx ON chats (id)", false},
		{"ALTER INDEX chats_parked_idx RENAME TO new", false},
		{"ALTER SEQUENCE chats_id_seq INCREMENT 2", false},
		{"CREATE DOMAIN new AS text", false},
		{"CREATE POLICY new ON chats", false},
		{"CREATE RULE new AS ON UPDATE TO chats DO INSTEAD NOTHING", false},
		{"UPDATE schema_migrations SET dirty = true", false},
		{"DELETE FROM schema_migrations", false},
		{"DROP TABLE schema_migrations", false},
		{"ALTER TABLE schema_migrations RENAME version TO new", false},
		{"SELECT pg_advisory_xact_lock(1)", false},
	} {
		tx, err := d.Pool.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(t.Context(), tc.sql); err != nil {
			t.Errorf("%s: %v", tc.sql, err)
		}
		if got, _, err := fingerprintOf(t.Context(), tx); err != nil || (got == d.original) != tc.same {
			t.Errorf("%s: fingerprint unchanged: %t, want %t (%v)", tc.sql, got == d.original, tc.same, err)
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
