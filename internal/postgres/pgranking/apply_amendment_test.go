package pgranking_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5/pgconn"

	"elobot/internal/ladder"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
)

// planned returns the world of newAmendable and the changes that one of the commands would make in
// it.
func planned(t *testing.T, command string) (*world, ranking.Changes) {
	t.Helper()
	w := newAmendable(t)
	if command == "restore" {
		w.Undo(t, "u", alice, 2)
	}
	c := w.plan(t, func(s *ranking.Service) error { return commands[command](t.Context(), s) })
	return w, c
}

// TestApplyFix checks that a fix, an undo and a restore supersede history entries and append
// others.
func TestApplyFix(t *testing.T) {
	t.Parallel()
	w, c := planned(t, "fix")
	dbtest.Must(t, w.Store.Apply(t.Context(), c))
	w.mustYield(t, `SELECT concat_ws(' ', score_a, score_b, sets) FROM matches WHERE number = 2`,
		"1 2 {{11,7},{7,11},{8,11}}")
	// A fix takes the score in the order of the card, which shows the winner first.
	w.Fix(t, "again", bob, 2, ladder.Score{A: 2, B: 0})
	w.mustYield(t, `SELECT concat_ws(' ', score_a, score_b, sets) FROM matches WHERE number = 2`, "0 2")
	w.mustYield(t, `
		SELECT concat_ws(' ', number, old_score_a, old_score_b, old_sets, 'to', new_score_a, new_score_b, new_sets, username)
		FROM match_fixes f JOIN matches m ON m.id = match_id JOIN players p ON p.id = fixed_by ORDER BY f.id`,
		"2 3 1 to 1 2 {{11,7},{7,11},{8,11}} alice", "2 1 2 {{11,7},{7,11},{8,11}} to 0 2 bob")
	w.mustYield(t, `SELECT DISTINCT reason FROM elo_history WHERE superseded_at = 'infinity' ORDER BY 1`, "fix", "match")
	w.Undo(t, "u", alice, 2)
	w.Restore(t, "r", alice, 2)
	w.mustYield(t, `
		SELECT concat_ws(' ', number, changes, count(h),
		    count(h) FILTER (WHERE superseded_at = 'infinity' AND reason = 'restore'))
		FROM matches m JOIN elo_history h ON h.match_id = m.id GROUP BY m.id ORDER BY number`,
		"1 0 2 0", "2 4 6 2", "3 0 8 2", "4 0 6 1")
}

// mustYield checks that a query returns the texts want.
func (w *world) mustYield(t *testing.T, sql string, want ...string) {
	t.Helper()
	dbtest.Equal(t, sql+"\n", want, dbtest.Values[string](t, w.Pool, sql), cmpopts.EquateEmpty())
}

const conflict, handled = "conflict", "handled"

// failsWith reports whether err matches want, which is conflict, handled or the name of a
// constraint.
func failsWith(err error, want string) bool {
	var pg *pgconn.PgError
	switch want {
	case conflict:
		return errors.Is(err, ranking.ErrConflict)
	case handled:
		return errors.Is(err, ranking.ErrHandled)
	default:
		return errors.As(err, &pg) && pg.ConstraintName == want
	}
}

func amended(c *ranking.Changes) *ranking.Amended {
	switch e := c.Effect.(type) {
	case *ranking.Undone:
		return &e.Amended
	case *ranking.Restored:
		return &e.Amended
	}
	return &fixed(c).Amended
}

func fixed(c *ranking.Changes) *ranking.Fixed { return c.Effect.(*ranking.Fixed) }

// TestAmendmentIsAllOrNothing checks that nothing is written if any statement of the batch fails,
// and that changes made by others in the meantime remain.
func TestAmendmentIsAllOrNothing(t *testing.T) {
	t.Parallel()
	type changes = ranking.Changes
	both := []string{"undo", "fix"}
	three := []string{"undo", "fix", "restore"}
	for name, tc := range map[string]struct {
		commands []string
		sql      string // to run first, or the change that a trigger refuses
		spoil    func(*changes)
		want     string // conflict, handled or the name of the violated constraint
	}{
		"key is there":         {three, `INSERT INTO handled_commands VALUES ('k')`, nil, handled},
		"changed by others":    {three, `UPDATE matches SET changes = changes + 1 WHERE number = 2`, nil, conflict},
		"entry superseded":     {both, `UPDATE elo_history SET superseded_at = now() WHERE elo_before = 1484`, nil, conflict},
		"entry is gone":        {both, "", func(c *changes) { amended(c).Rewrite.Superseded[1].ID = 999 }, conflict},
		"first is stale":       {three, `UPDATE group_players SET version = 9 WHERE name = 'Alice'`, nil, conflict},
		"last is stale":        {three, `UPDATE group_players SET version = 9 WHERE name = 'Bob'`, nil, conflict},
		"standing is gone":     {both, "", func(c *changes) { amended(c).Rewrite.Standings[1].ID = 999 }, conflict},
		"no match":             {both[:1], "", func(c *changes) { amended(c).Match = 999 }, conflict},
		"no match to fix":      {both[1:], "", func(c *changes) { amended(c).Match = 999 }, conflict},
		"undone by nobody":     {both[:1], "", func(c *changes) { amended(c).By = 999 }, "matches_undone_by_fkey"},
		"fixed by nobody":      {both[1:], "", func(c *changes) { amended(c).By = 999 }, "match_fixes_fixed_by_fkey"},
		"fixed to the same":    {both[1:], "", func(c *changes) { fixed(c).New = fixed(c).Old }, "match_fixes_change_check"},
		"one set":              {both[1:], "", func(c *changes) { fixed(c).New.Sets = fixed(c).New.Sets[:1] }, "matches_sets_check"},
		"bad history":          {both, "", func(c *changes) { amended(c).Rewrite.Entries[1].After = -1 }, "elo_history_elo_check"},
		"bad best":             {both, "", func(c *changes) { amended(c).Rewrite.Entries[0].BestBefore = 1 }, "elo_history_best_before_check"},
		"history of nobody":    {both, "", func(c *changes) { amended(c).Rewrite.Entries[0].Player = 999 }, "elo_history_match_player_fkey"},
		"two current entries":  {both, "", func(c *changes) { amended(c).Rewrite.Entries[1] = amended(c).Rewrite.Entries[0] }, "elo_history_pkey"},
		"bad reason":           {both, "", func(c *changes) { amended(c).Rewrite.Reason = "whim" }, "elo_history_reason_check"},
		"bad rating":           {both, "", func(c *changes) { amended(c).Rewrite.Standings[1].Elo = -1 }, "group_players_elo_check"},
		"no chat":              {both, "", func(c *changes) { c.Chat = 99 }, "outbox_chat_id_fkey"},
		"handled_commands":     {three, "handled_commands INSERT", nil, "refused"},
		"matches":              {three, "matches UPDATE", nil, "refused"},
		"match_fixes":          {both[1:], "match_fixes INSERT", nil, "refused"},
		"elo_history replaced": {three, "elo_history UPDATE", nil, "refused"},
		"elo_history appended": {three, "elo_history INSERT", nil, "refused"},
		"group_players":        {three, "group_players UPDATE", nil, "refused"},
		"outbox":               {three, "outbox INSERT", nil, "refused"},
		"card":                 {three, "outbox UPDATE", nil, "refused"},
		"chats":                {three, "chats UPDATE", nil, "refused"},
	} {
		for _, command := range tc.commands {
			t.Run(command+", "+name, func(t *testing.T) {
				t.Parallel()
				w, c := planned(t, command)
				if tc.spoil != nil {
					tc.spoil(&c)
				}
				dbtest.Exec(t, w.Pool, `UPDATE chats SET is_active = false`)
				if table, event, _ := strings.Cut(tc.sql, " "); tc.want == "refused" {
					refuse(t, w.Pool, table, event)
				} else {
					dbtest.Exec(t, w.Pool, tc.sql)
				}
				before, wakes := w.Contents(t), w.Wakes.Load()
				if err := w.Store.Apply(t.Context(), c); !failsWith(err, tc.want) {
					t.Errorf("error is %v", err)
				}
				dbtest.Equal(t, "something was written", before, w.Contents(t))
				if w.Wakes.Load() != wakes && tc.want != "handled" {
					t.Error("woken for a commit that did not happen")
				}
			})
		}
	}
}

// TestVersionGuard checks that a change to a standing by a writer that does not lock the group is
// not overwritten, whether the writer commits between a command's read and write or while the write
// waits for the standing.
func TestVersionGuard(t *testing.T) {
	t.Parallel()
	for name := range commands {
		for _, player := range []string{"Alice", "Bob"} {
			t.Run(name+" and "+player, func(t *testing.T) {
				t.Parallel()
				w, c := planned(t, name)
				const foreign = `UPDATE group_players SET elo = elo + 100, best_elo = best_elo + 100, version = version + 1
					WHERE name = $1`
				dbtest.Exec(t, w.Pool, foreign, player)
				w.mustConflict(t, dbtest.Start(func() error { return w.Store.Apply(t.Context(), c) }))

				c = w.plan(t, func(s *ranking.Service) error { return commands[name](t.Context(), s) })
				writer := dbtest.Begin(t, w.Pool)
				dbtest.Exec(t, writer, foreign, player)
				waiting := dbtest.Start(func() error { return w.Store.Apply(t.Context(), c) })
				dbtest.Await(t, w.Pool, dbtest.Blocked)
				dbtest.Must(t, writer.Commit(t.Context()))
				w.mustConflict(t, waiting)
			})
		}
	}
}

// mustConflict waits for the end of a command, which must fail with a conflict and write nothing.
// The change that it conflicts with must already be committed.
func (w *world) mustConflict(t *testing.T, result <-chan error) {
	t.Helper()
	before := w.Contents(t)
	if err := dbtest.Receive(t, result); !errors.Is(err, ranking.ErrConflict) {
		t.Errorf("error is %v, want a conflict", err)
	}
	dbtest.Equal(t, "something was written", before, w.Contents(t))
}

// TestForeignWriterInTheMiddle checks that when a standing changes between the read and the write
// of a command, the service retries with the new standing.
func TestForeignWriterInTheMiddle(t *testing.T) {
	t.Parallel()
	w := newAmendable(t)
	meddled := false
	store := meddler{w.Store, func() {
		if !meddled {
			meddled = true
			dbtest.Exec(t, w.Pool, `
				UPDATE group_players SET elo = 1700, best_elo = 1700, version = version + 1 WHERE name = 'Alice'`)
		}
	}}
	dbtest.Must(t, commands["match"](t.Context(), dbtest.Service(store)))
	got := dbtest.Value[string](t, w.Pool, `SELECT elo_before || ' ' || (elo_after - elo_before) FROM elo_history h
		JOIN matches m ON m.id = match_id JOIN players p ON p.id = player_id WHERE number = 5 AND display_name = 'Alice'`)
	if got != "1700 8" {
		t.Errorf("the match counts as %s, want from 1700 and 8 more", got)
	}
}

// meddler is a store that runs a function before each Apply.
type meddler struct {
	ranking.Store
	meddle func()
}

func (m meddler) Apply(ctx context.Context, c ranking.Changes) error {
	m.meddle()
	return m.Store.Apply(ctx, c)
}
