package pgranking_test

import (
	"testing"

	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres/dbtest"
)

// TestScansAreSeen checks that Scanned detects the scan of a table or of a whole index, but not an
// index scan with a LIMIT.
func TestScansAreSeen(t *testing.T) {
	t.Parallel()
	pool := pgtest.Borrow(t).Pool
	s := dbtest.Statement{SQL: `SELECT id FROM players WHERE display_name = $1`, Args: []any{"Alice"}}
	for kind, plan := range dbtest.Plans(t, pool, s) {
		if got := dbtest.Scanned(plan); len(got) != 1 || got[0] != "players" {
			t.Errorf("for %s it detects %v in:\n%s", kind, got, plan)
		}
	}
	dbtest.Exec(t, pool, `INSERT INTO handled_commands SELECT 'm:' || n FROM generate_series(1, 2000) n`)
	dbtest.Exec(t, pool, `VACUUM ANALYZE handled_commands`)
	for sql, want := range map[string]int{
		`SELECT key FROM handled_commands ORDER BY key`:                                1,
		`SELECT key FROM handled_commands ORDER BY key LIMIT 1`:                        0,
		`SELECT key FROM handled_commands WHERE key > 'm:9' ORDER BY key DESC LIMIT 3`: 0,
	} {
		for kind, plan := range dbtest.Plans(t, pool, dbtest.Statement{SQL: sql}) {
			if got := dbtest.Scanned(plan); len(got) != want {
				t.Errorf("for %s it detects %v in:\n%s", kind, got, plan)
			}
		}
	}
}
