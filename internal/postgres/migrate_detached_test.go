package postgres_test

import (
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres/dbtest"
	"elobot/migrations"
)

// TestMigrateDetachedGroups: an earlier release, which has no groups without a chat, finds each in a chat of its own that the bot is not
// in.
func TestMigrateDetachedGroups(t *testing.T) {
	t.Parallel()
	pool := dbtest.NewWorldIn(t, pgtest.Borrow(t)).Pool
	dbtest.Exec(t, pool, `INSERT INTO groups (former_chat_id) VALUES (1), (1)`)
	migrate := func(name string) {
		t.Helper()
		sql, err := fs.ReadFile(migrations.FS, name)
		dbtest.Must(t, err)
		dbtest.Exec(t, pool, string(sql))
	}
	migrate("000106_detached_groups.down.sql")
	for _, when := range []string{"after down", "after up"} {
		got := dbtest.Values[string](t, pool, `
			SELECT concat_ws(' ', g.id, c.title, c.is_active) FROM groups g JOIN chats c ON c.id = g.chat_id ORDER BY g.id`)
		if diff := cmp.Diff([]string{"1 Club t", "2 Club f", "3 Club f"}, got); diff != "" {
			t.Errorf("%s, groups with their chats (-want +got):\n%s", when, diff)
		}
		if when == "after down" {
			migrate("000106_detached_groups.up.sql")
		}
	}
}
