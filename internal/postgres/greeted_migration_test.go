package postgres_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres/dbtest"
	"elobot/migrations"
)

// TestUpgradedDatabase: groups from before the bot recorded greetings count as greeted, except where the bot may not
// write.
func TestUpgradedDatabase(t *testing.T) {
	t.Parallel()
	pool := dbtest.Open(t, pgtest.Empty(t))
	dbtest.Migrate(t, pool, stepsUpTo(t, "000005"))
	dbtest.Exec(t, pool, `
		INSERT INTO chats (telegram_chat_id, kind, created_at, parked_at) VALUES
		    (-1, 'group', to_timestamp(1), NULL), (-2, 'supergroup', to_timestamp(2), NULL), (-3, 'group', now(), now()),
		    (4, 'private', now(), NULL)`)
	dbtest.Migrate(t, pool, migrations.FS)
	got := dbtest.Values[string](t, pool, `
		SELECT concat_ws(' ', telegram_chat_id, extract(epoch FROM greeted_at)::bigint, added_at) FROM chats ORDER BY id`)
	if diff := cmp.Diff([]string{"-1 1", "-2 2", "-3", "4"}, got); diff != "" {
		t.Errorf("greeted chats (-want +got):\n%s", diff)
	}
}
