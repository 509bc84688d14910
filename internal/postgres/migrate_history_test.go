package postgres_test

import (
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres/dbtest"
	"elobot/migrations"
)

// TestMigrateHistory takes a database with matches far back and forth again: what is derived from the matches is as before.
func TestMigrateHistory(t *testing.T) {
	t.Parallel()
	pool := dbtest.Open(t, pgtest.New(t))
	dbtest.Exec(t, pool, oneOfEach)
	dbtest.Exec(t, pool, `
		UPDATE group_players SET last_played_at = (SELECT played_at FROM matches);
		INSERT INTO matches (group_id, ladder_id, number, score_a, score_b, k_factor, played_at, undone_at, idempotency_key)
		    VALUES (1, 1, 2, 3, 1, 32, now() + interval '1 hour', now(), 'undone');
		INSERT INTO match_players SELECT id, side, side, 1 FROM matches, generate_series(1, 2) AS side WHERE number = 2;
		INSERT INTO chats (telegram_chat_id, kind) VALUES (-200, 'group');
		INSERT INTO groups (chat_id) SELECT max(id) FROM chats;
		INSERT INTO ladders (group_id, is_default) SELECT max(id), true FROM groups -- without matches`)
	contents := func() []string {
		return dbtest.Values[string](t, pool, `
			SELECT mp::text FROM match_players mp UNION ALL SELECT s::text FROM group_players s UNION ALL
			SELECT m::text FROM matches m UNION ALL SELECT c::text FROM chats c UNION ALL SELECT h::text FROM elo_history h ORDER BY 1`)
	}
	before := contents()
	for _, name := range []string{
		"000111_upsets_of_months.down.sql", "000110_one_truth.down.sql", "000109_summaries.down.sql", "000108_instances.down.sql", "000106_detached_groups.down.sql",
		"000105_boards_and_charts.down.sql", "000104_history.down.sql", "000104_history.up.sql", "000105_boards_and_charts.up.sql",
		"000106_detached_groups.up.sql", "000108_instances.up.sql", "000109_summaries.up.sql", "000110_one_truth.up.sql", "000111_upsets_of_months.up.sql",
	} {
		sql, err := fs.ReadFile(migrations.FS, name)
		dbtest.Must(t, err)
		dbtest.Exec(t, pool, string(sql))
	}
	if diff := cmp.Diff(before, contents()); diff != "" {
		t.Errorf("after down and up (-want +got):\n%s", diff)
	}
}
