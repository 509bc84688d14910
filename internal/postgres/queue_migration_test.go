package postgres_test

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/outbox"
	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres/dbtest"
	"elobot/migrations"
)

// stepsUpTo returns the real migrations up to that with the given number.
func stepsUpTo(t *testing.T, last string) fstest.MapFS {
	t.Helper()
	files := make(fstest.MapFS)
	names, err := fs.Glob(migrations.FS, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if number, _, _ := strings.Cut(name, "_"); number > last {
			continue
		}
		data, err := fs.ReadFile(migrations.FS, name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: data}
	}
	return files
}

// TestQueueUpDownUp migrates a database in which notices of all kinds wait and were sent. Then it reverts the step
// when there are new notices, and migrates again.
func TestQueueUpDownUp(t *testing.T) {
	t.Parallel()
	pool := dbtest.Open(t, pgtest.Empty(t))
	dbtest.Migrate(t, pool, stepsUpTo(t, "000003"))
	before := schema(t, pool)
	dbtest.Exec(t, pool, `
		INSERT INTO chats (telegram_chat_id, kind) VALUES (-100, 'group'), (-200, 'group');
		INSERT INTO groups (chat_id, last_match_number) VALUES (1, 9);
		INSERT INTO ladders (group_id, is_default) VALUES (1, true);
		INSERT INTO matches (group_id, ladder_id, number, score_a, score_b, k_factor, played_at, idempotency_key)
		    SELECT 1, 1, n, 3, 1, 32, now(), 'm:' || n FROM generate_series(1, 9) n;
		INSERT INTO outbox (chat_id, kind, payload, action, state, match_id, telegram_message_id, finished_at, callback_query_id) VALUES
		    (1, 'match_recorded', '{}', 'send', 'sent', 1, 71, now(), NULL), (1, 'match_recorded', '{}', 'send', 'dead', 2, NULL, now(), NULL),
		    (1, 'match_recorded', '{}', 'send', 'sending', 3, NULL, NULL, NULL), (1, 'match_recorded', '{"undone": true}', 'edit', 'planned', 1, NULL, NULL, NULL),
		    (1, 'refusal', '{}', 'toast', 'planned', NULL, NULL, NULL, 'press'), (1, 'refusal', '{}', 'send', 'planned', NULL, NULL, NULL, NULL);
		INSERT INTO match_messages VALUES (-100, 71, 1), (-900, 71, 1), (-100, 61, 4)`)
	up := func() dbtest.Mail {
		t.Helper()
		pool.Reset() // the columns have changed
		dbtest.Migrate(t, pool, migrations.FS)
		dbtest.Exec(t, pool, dbtest.TheLease)
		return dbtest.MailIn(pool)
	}
	m := up()
	got := dbtest.Values[string](t, pool, `SELECT concat_ws(' ', telegram_chat_id, telegram_message_id, match_id, outbox_id, covered) FROM match_messages ORDER BY 1`)
	if diff := cmp.Diff([]string{"-100 61 4 1", "-100 71 1 1 1", "-900 71 1 1"}, got); diff != "" {
		t.Errorf("messages that show matches (-want +got):\n%s", diff)
	}
	m.MustHaveRows(t, `action, state, purpose, attempts, failures, batch`, "1 send sent outcome 0 0", "2 send dead outcome 0 0",
		"3 send sending outcome 0 0", "4 edit planned outcome 0 0", "5 toast planned outcome 0 0", "6 send planned outcome 0 0")
	m.Finish(t, dbtest.SentAs(m.MustTake(t, 1, 3), 73))
	if edit := m.Take(t, 1); edit == nil || edit.Row.ID != 4 || edit.Target != 71 || dbtest.Content(edit) != `1{"undone": true} of 1` {
		t.Errorf("took %+v", edit)
	} else {
		m.Finish(t, dbtest.SentAs(*edit, 71))
	}

	dbtest.Exec(t, pool, `INSERT INTO outbox (chat_id, kind, payload, purpose, action, object, key, supersede_key, not_before) VALUES
		(1, 'refusal', '{}', 'answer', 'send', NULL, 'k', NULL, NULL), (1, 'board', '{}', 'notification', 'ensure', 'board', '', 'board', now())`)
	dbtest.Exec(t, pool, `INSERT INTO ensured_messages VALUES (1, 'board', 5, '')`)
	m.Finish(t, dbtest.SentAs(m.MustTake(t, 1, 6, 7), 74))
	m.Finish(t, dbtest.Failed(*m.Turn(t, dbtest.Answers(1)).Message, outbox.Rejected))
	dbtest.GoDown(t, pool, 3)
	if diff := cmp.Diff(before, schema(t, pool)); diff != "" {
		t.Errorf("the step is not reverted (-before +after):\n%s", diff)
	}
	rows := []string{"1 send sent", "2 send dead", "3 send sent", "4 edit sent", "5 toast dead", "6 send sent", "7 send sent", "8 send planned"}
	m.MustHaveRows(t, `action, state`, rows...)

	m = up()
	m.MustHaveRows(t, `action, state`, rows...)
	m.MustTake(t, 1, 8)
}
