package pgtest

import (
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestBorrow has tests leave a database in many ways. The next test has one that is as good as new, and the same one where
// only rows were written.
//
//nolint:paralleltest,tparallel // one after the other, and nobody else borrows here
func TestBorrow(t *testing.T) {
	t.Parallel()
	state := func(d *Database) string {
		t.Helper()
		var s string
		if err := d.Pool.QueryRow(t.Context(), `
			SELECT concat_ws(' ', (SELECT count(*) FROM chats), nextval('chats_id_seq'), setval('chats_id_seq', 1, false),
			    (SELECT count(*) FROM pg_attribute WHERE attrelid >= 16384),
			    (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = d.oid),
			    (SELECT count(*) FROM pg_stat_activity WHERE datid = d.oid AND application_name = 'stranger'))
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
	var begun, url string
	t.Run("the first one", func(t *testing.T) {
		d := Borrow(t)
		begun, url = state(d), d.URL
	})
	for _, tc := range []struct {
		name string
		do   func(*testing.T, *Database)
		same bool
	}{
		{"nothing", func(*testing.T, *Database) {}, true},
		{"rows", exec(row), true},
		{"a transaction of somebody who does not end", func(t *testing.T, d *Database) {
			t.Helper()
			stranger, err := pgx.Connect(t.Context(), WithParameter(d.URL, "application_name", "stranger"))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := stranger.Exec(t.Context(), "BEGIN; "+row); err != nil {
				t.Error(err)
			}
			t.Cleanup(func() { _ = stranger.PgConn().Conn().Close() }) // while the server may be at work
		}, true},
		{"a lock", exec("SELECT pg_advisory_lock(1)"), false},
		{"another column", exec("ALTER TABLE chats ADD COLUMN another text"), false},
		{"much", exec("INSERT INTO handled_commands (key) SELECT repeat('x', 1000) || n FROM generate_series(1, 2000) n"), false},
		{"a connection that is in use", func(t *testing.T, d *Database) {
			t.Helper()
			conn, err := d.Pool.Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(conn.Release)
		}, true},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.do(t, Borrow(t)) })
		t.Run("after "+tc.name, func(t *testing.T) {
			d := Borrow(t)
			if got := state(d); got != begun {
				t.Errorf("the database is %q, the first was %q", got, begun)
			}
			if (d.URL == url) != tc.same {
				t.Errorf("it is %s after %s", d.URL, url)
			}
			url = d.URL
		})
	}
}
