package pgranking_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"elobot/internal/postgres"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
)

// references returns the columns that hold ids of the rows of these tables, such as
// "matches.group_id → groups".
func (w *world) references(t *testing.T, tables ...string) []string {
	t.Helper()
	byForeignKey := dbtest.Values[string](t, w.Pool, `
		SELECT DISTINCT format('%s.%s → %s', c.conrelid::regclass, a.attname, c.confrelid::regclass)
		FROM pg_constraint c JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
		WHERE c.contype = 'f' AND cardinality(c.conkey) = 1 AND c.confrelid::regclass::text = ANY ($1) ORDER BY 1`, tables)
	byName := dbtest.Values[string](t, w.Pool, `
		SELECT format('%s.%s → %ss', table_name, column_name, substring(column_name FROM '^(chat|group|ladder|player)_id$'))
		FROM information_schema.columns
		WHERE table_schema = 'public' AND column_name ~ '^(chat|group|ladder|player)_id$'
		UNION ALL SELECT 'outbox.addressee_id → players' ORDER BY 1`)
	all := byForeignKey
	for _, column := range byName {
		_, table, _ := strings.Cut(column, " → ")
		if slices.Contains(tables, table) && !slices.Contains(all, column) {
			all = append(all, column)
		}
	}
	slices.Sort(all)
	return all
}

// counts returns for each column how many rows refer to the row with this id.
func (w *world) counts(t *testing.T, columns []string, id any) map[string]int {
	t.Helper()
	all := make(map[string]int)
	for _, c := range columns {
		column, _, _ := strings.Cut(c, " → ")
		table, _, _ := strings.Cut(column, ".")
		all[c] = dbtest.Value[int](t, w.Pool, fmt.Sprintf(`SELECT count(*) FROM %s WHERE %s = $1`, table, column), id)
	}
	return all
}

// newReferences returns a world with two chats. Every column that refers to a chat has a row for
// the newer chat, and every column that can refer to an unclaimed player has a row for an unclaimed
// player of the newer chat.
func newReferences(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, alice, bob)
	w.Record(t, "1", alice, bob, 3, 1)
	w.recordIn(t, dbtest.Upgraded, "2", al, bob, 3, 1)
	w.recordIn(t, dbtest.Upgraded, "3", bob, al, 3, 1)
	dbtest.Exec(t, w.Pool, `
		INSERT INTO chat_aliases VALUES (-99, 2);
		INSERT INTO groups (former_chat_id) VALUES (2);
		INSERT INTO ensured_messages VALUES (2, 'board', 5, '');
		INSERT INTO boards (chat_id, ladder_id) VALUES (2, 2);
		INSERT INTO topics VALUES (2, 8, 2);
		INSERT INTO imports VALUES (2, 1, 2, 1, 1, '{}');
		INSERT INTO start_ratings VALUES (2, 1, 1, 1500, 1600);
		`+dbtest.PadelLadders("id = 2")+`
		INSERT INTO match_moves (match_id, old_ladder_id, new_ladder_id, moved_by) VALUES (2, 3, 2, 1), (2, 2, 3, 1);
		INSERT INTO prompts (id, chat_id, kind, match_id) VALUES (1, 2, 'undo', 2);
		INSERT INTO timers VALUES ('t:prompt:1', 2, now());
		INSERT INTO match_messages VALUES (-1000100, 7, 2);
		INSERT INTO match_fixes (match_id, old_score_a, old_score_b, new_score_a, new_score_b) VALUES (2, 3, 2, 3, 1);
		UPDATE outbox SET addressee_id = (SELECT id FROM players WHERE username = 'al') WHERE chat_id = 2`)
	return w
}

// TestJoinedChatLeavesNothing checks that after two chats are merged, every reference to the chat
// that is gone points to the kept chat, including the record of a group's former chat.
func TestJoinedChatLeavesNothing(t *testing.T) {
	t.Parallel()
	w := newReferences(t)
	w.Record(t, "4", alice, bob, 3, 1)
	w.Record(t, "5", alice, bob, 3, 1)
	columns := w.references(t, "chats")
	for column, n := range w.counts(t, columns, 2) {
		if n == 0 {
			t.Errorf("%s: newReferences needs a row for it", column)
		}
	}
	w.move(t)
	for column, n := range w.counts(t, columns, 2) {
		if n != 0 {
			t.Errorf("%s: %d rows still refer to the newer chat", column, n)
		}
	}
	w.mustYield(t, `SELECT concat_ws(' ', id, 'has ' || chat_id, 'had ' || former_chat_id) FROM groups ORDER BY id`,
		"1 has 1", "2 had 1", "3 had 1")
}

// TestMergedPlayerLeavesNothing checks that only certain columns still refer to an unclaimed player
// who has been merged into an account: the mapping, the columns that are read through it, and the
// columns that record who was named.
func TestMergedPlayerLeavesNothing(t *testing.T) {
	t.Parallel()
	// No row refers to al in these columns: an unclaimed player has sent no command and was never
	// seen, and nobody was merged into al.
	neverUnclaimed := []string{
		"match_fixes.fixed_by → players", "match_moves.moved_by → players", "matches.reported_by → players", "matches.undone_by → players", "players.merged_into → players",
		"prompts.answerer_id → players", "sightings.player_id → players", "sightings.counts_as → players",
		"group_players.named_id → players", "match_players.named_id → players",
	}
	// These columns are read through the mapping, like the ids in payloads.
	followed := []string{"outbox.addressee_id → players"}
	w := newReferences(t)
	from, columns := w.ID(t, "al"), w.references(t, "players")
	for _, known := range slices.Concat(neverUnclaimed, followed) {
		if !slices.Contains(columns, known) {
			t.Errorf("there is no %s", known)
		}
	}
	columns = slices.DeleteFunc(columns, func(c string) bool { return slices.Contains(neverUnclaimed, c) })
	for column, n := range w.counts(t, columns, from) {
		if n == 0 {
			t.Errorf("%s: newReferences needs a row for it", column)
		}
	}
	dbtest.Must(t, dbtest.Service(w.Store).Do(t.Context(), in(dbtest.Upgraded, "m", renamed), ranking.Join{}))
	for column, n := range w.counts(t, columns, from) {
		if slices.Contains(followed, column) == (n == 0) {
			t.Errorf("%s: %d rows refer to the merged player", column, n)
		}
	}
	if n := w.counts(t, []string{"sightings.counts_as → players"},
		w.ID(t, "Alice")); n["sightings.counts_as → players"] != 1 {
		t.Error("al was not merged into Alice")
	}
}

// TestWhatIsKept checks that a purge after a year empties the tables of keys, notices, prompts,
// dead letters and attempts, and no others.
func TestWhatIsKept(t *testing.T) {
	t.Parallel()
	w := newReferences(t)
	dbtest.Exec(t, w.Pool, `
		UPDATE outbox SET state = 'sent', finished_at = now();
		UPDATE prompts SET closed_at = now(), closed_as = 'expired';
		INSERT INTO dead_letters (kind, update_id, payload, last_error, attempts, first_seen_at)
		    VALUES ('update', 1, '', 'e', 1, now());
		INSERT INTO update_attempts (update_id, attempts) VALUES (1, 1);`)
	for _, c := range dbtest.Values[[]string](t, w.Pool, `
		SELECT ARRAY[table_name, column_name]::text[] FROM information_schema.columns
		WHERE table_schema = 'public' AND data_type = 'timestamp with time zone' AND is_generated = 'NEVER'`) {
		dbtest.Exec(t, w.Pool, fmt.Sprintf(`UPDATE %s SET %[2]s = %[2]s - interval '1 year' WHERE isfinite(%[2]s)`,
			c[0], c[1]))
	}
	rows := func() (filled []string) {
		for _, table := range dbtest.Values[string](t, w.Pool, `
			SELECT table_name::text FROM information_schema.tables
			WHERE table_schema = 'public' AND table_name <> 'schema_migrations' ORDER BY 1`) {
			if dbtest.Value[bool](t, w.Pool, fmt.Sprintf(`SELECT EXISTS (SELECT FROM %s)`, table)) {
				filled = append(filled, table)
			}
		}
		return filled
	}
	before := rows()
	if _, err := postgres.Purge(t.Context(), w.Pool, nil); err != nil {
		t.Fatal(err)
	}
	kept := rows()
	purged := slices.DeleteFunc(before, func(table string) bool { return slices.Contains(kept, table) })
	wantKept := []string{
		"boards", "chat_aliases", "chats", "elo_history", "ensured_messages", "group_players", "groups", "imports", "ladders", "match_fixes",
		"match_messages", "match_moves", "match_players", "matches", "players", "seasons", "sightings", "start_ratings",
		"timers", "topics",
	}
	wantPurged := []string{"dead_letters", "handled_commands", "outbox", "prompts", "update_attempts"}
	dbtest.Equal(t, "tables that are kept", wantKept, kept)
	dbtest.Equal(t, "tables that are purged", wantPurged, purged)
	all := dbtest.Values[string](t, w.Pool, `
		SELECT table_name::text FROM information_schema.tables WHERE table_schema = 'public' AND table_name NOT IN
		    ('bot', 'leases', 'schema_migrations') ORDER BY 1`)
	dbtest.Equal(t, "newReferences fills all tables but those of the bot itself",
		all, slices.Sorted(slices.Values(slices.Concat(kept, purged))))
}
