package pgtest

import (
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestBorrow checks that, however a test has changed a borrowed database, the next test gets a
// database in its original state. The next test gets the same database, unless the schema has
// changed or a lock is still held.
//
//nolint:paralleltest,tparallel // the subtests depend on their order, and no other test may borrow
func TestBorrow(t *testing.T) {
	t.Parallel()
	const row = "INSERT INTO chats (telegram_chat_id, kind, title) VALUES (1, 'group', 'x');"
	for _, tc := range []struct {
		name, sql string
		same      bool
		also      func(*testing.T, *Database)
	}{
		{name: "nothing", same: true},
		{name: "rows", sql: row, same: true},
		{name: "settings", sql: "SET lock_timeout = 1234; LISTEN x", same: true},
		{name: "an open transaction of another client", same: true, also: func(t *testing.T, d *Database) {
			t.Helper()
			outsider, err := pgx.Connect(t.Context(), WithParameter(d.URL, "application_name", "outsider"))
			must(t, err)
			_, err = outsider.Exec(t.Context(), "BEGIN; "+row)
			must(t, err)
			t.Cleanup(func() { _ = outsider.PgConn().Conn().Close() }) // the server may still be executing
		}},
		{name: "many connections", same: true, also: func(t *testing.T, d *Database) {
			t.Helper()
			for range maxIdleSessions + 1 {
				conn, err := d.Pool.Acquire(t.Context())
				must(t, err)
				defer conn.Release()
			}
		}},
		{name: "a lock", sql: "SELECT pg_advisory_lock(1)"},
		{name: "a column", sql: "ALTER TABLE chats ALTER title SET DEFAULT 'new'"},
		{name: "a constraint", sql: "ALTER TABLE chats DROP CONSTRAINT chats_kind_check, ADD CONSTRAINT chats_kind_check CHECK (true)"},
		{name: "a function", sql: "ALTER FUNCTION require_one_chat() SET lock_timeout = 0"},
		{name: "a sequence", sql: "ALTER SEQUENCE chats_id_seq INCREMENT 2"},
		{name: "a trigger", sql: "ALTER TABLE chats DISABLE TRIGGER chats_no_alias"},
		{name: "no migrations", sql: "DROP TABLE schema_migrations"},
	} {
		var before, now string
		t.Run(tc.name, func(t *testing.T) {
			d := Borrow(t)
			before = d.URL
			_, err := d.Pool.Exec(t.Context(), tc.sql)
			must(t, err)
			if tc.also != nil {
				tc.also(t, d)
			}
		})
		t.Run("after "+tc.name, func(t *testing.T) {
			d := Borrow(t)
			now = d.URL
			var state string
			must(t, d.Pool.QueryRow(t.Context(), `
				SELECT concat_ws(' ', (SELECT count(*) FROM chats), nextval('chats_id_seq'), setval('chats_id_seq', 1, false),
				    s.dirty, current_setting('lock_timeout'), (SELECT count(*) FROM pg_listening_channels()),
				    (SELECT count(*) <= 4 FROM pg_stat_activity a WHERE a.datid = d.oid AND a.backend_type = 'client backend'),
				    (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = d.oid))
				FROM pg_database d, schema_migrations s WHERE datname = current_database()`).Scan(&state))
			if want := "0 1 1 f 0 0 t 0"; state != want {
				t.Errorf("state = %q, want %q", state, want)
			}
			if fingerprint, _, err := fingerprintOf(t.Context(), d.Pool); fingerprint != d.original || err != nil {
				t.Errorf("the fingerprint is %s (%v), want %s", fingerprint, err, d.original)
			}
		})
		if (now == before) != tc.same {
			t.Errorf("after %s, %s is followed by %s", tc.name, before, now)
		}
	}
}
