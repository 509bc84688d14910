package ranking_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/ranking"
)

// stagedStore calls during after an import or its undo has been staged, before it locks the group.
type stagedStore struct {
	ranking.Store

	during func()
}

func (s stagedStore) Stage(ctx context.Context, n *ranking.NewImport, people ranking.Seen) (ranking.Staged, error) {
	staged, err := s.Store.Stage(ctx, n, people)
	return stagedImport{staged, s.during}, err
}

func (s stagedStore) StageUndo(ctx context.Context, group ranking.GroupID, number int) (ranking.Staged, error) {
	staged, err := s.Store.StageUndo(ctx, group, number)
	return stagedImport{staged, s.during}, err
}

type stagedImport struct {
	ranking.Staged

	during func()
}

func (s stagedImport) LockGroup(ctx context.Context, q ranking.Query) (*ranking.Snapshot, error) {
	s.during()
	return s.Staged.LockGroup(ctx, q)
}

// importingWhile imports the text of a file with the given guests, and calls during while its rows
// are staged.
func (g *game) importingWhile(t *testing.T, text string, during func(), names ...string) error {
	t.Helper()
	importer, f := g.readImport(t, text, guests(names...))
	importer.Use(stagedStore{g.store, during})
	_, err := importer.Import(t.Context(), f)
	return err
}

// TestCommandsDuringAnImport checks that commands take effect while an import writes its rows, and
// that the end is then as if they had come first: new results, and amendments of earlier ones.
func TestCommandsDuringAnImport(t *testing.T) {
	t.Parallel()
	text := "date,a,b,score\n2023-01-01,Ann,Alice,3:1\n2023-01-02,Bob,Ann,2:1\n2023-01-03,Alice,Bob,2:2\n"
	var states [][]string
	for _, first := range []bool{true, false} {
		g := newGameOn(pgtest.Borrow(t))
		for range 4 {
			g.record(t, &alice, alice, bob, 3, 1)
		}
		commands := func() {
			g.record(t, &bob, alice, bob, 1, 2)
			must(t, g.Do(t.Context(), g.origin(&alice), ranking.UndoMatch{Amendment: matchNumber(2)}))
			equal(t, "imported matches that others see", 0, g.count(t, "matches WHERE idempotency_key LIKE 'i:%'"))
		}
		if first {
			commands()
			commands = func() {}
		}
		must(t, g.importingWhile(t, text, commands, "Ann"))
		g.verifyClean(t)
		states = append(states, withoutKeys(g.state(t)))
	}
	equal(t, "state if the commands come during the import", states[0], states[1])
}

// TestCommandsDuringTheUndoOfAnImport is like TestCommandsDuringAnImport, while an import is taken
// back.
func TestCommandsDuringTheUndoOfAnImport(t *testing.T) {
	t.Parallel()
	text := "date,a,b,score\n2023-01-01,Ann,Alice,3:1\n2023-01-02,Bob,Ann,2:1\n2023-01-03,Alice,Bob,2:2\n"
	var states [][]string
	for _, first := range []bool{true, false} {
		g := newGameOn(pgtest.Borrow(t))
		for range 4 {
			g.record(t, &alice, alice, bob, 3, 1)
		}
		g.importing(t, text, guests("Ann"))
		commands := func() {
			g.record(t, &bob, alice, bob, 1, 2)
			must(t, g.Do(t.Context(), g.origin(&alice), ranking.UndoMatch{Amendment: matchNumber(2)}))
			equal(t, "imported matches that others see", 3, g.count(t, "matches WHERE idempotency_key LIKE 'i:%'"))
		}
		if first {
			commands()
			commands = func() {}
		}
		u, err := ranking.UndoImport(t.Context(), stagedStore{g.store, commands}, club.ID, 1)
		must(t, err)
		equal(t, "matches taken back", 3, len(u.Matches))
		g.verifyClean(t)
		states = append(states, withoutKeys(g.state(t)))
	}
	equal(t, "state if the commands come during the undo", states[0], states[1])
}

// TestPlayersChangeDuringAnImport checks that an import whose players have changed by the time its
// rows are staged fails, leaves nothing but its numbers, and succeeds when it is run again.
func TestPlayersChangeDuringAnImport(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.begin(t)
	text := "date,a,b,score\n2023-01-01,Ann,Alice,3:1\n2023-01-02,Bob,Ann,2:1\n"
	merge := func() {
		g.exec(t, `INSERT INTO sightings (group_id, player_id, counts_as)
			SELECT 1, bob.id, alice.id FROM players alice, players bob
			WHERE alice.username = 'alice' AND bob.username = 'bob'
			ON CONFLICT ON CONSTRAINT sightings_pkey DO UPDATE SET counts_as = excluded.counts_as`)
	}
	if err := g.importingWhile(t, text, merge, "Ann"); !errors.Is(err, ranking.ErrConflict) {
		t.Errorf("the import: %v", err)
	}
	equal(t, "matches", 0, g.count(t, "matches"))
	g.exec(t, `UPDATE sightings SET counts_as = NULL`)
	g.verifyClean(t)
	r := g.importing(t, text, guests("Ann"))
	if r.Number != 2 || r.New != 2 || r.Players != 1 {
		t.Errorf("imported again: %+v", r)
	}
	equal(t, "numbers", []string{"3", "4"}, dbValues(t, g, `SELECT number::text FROM matches ORDER BY number`))
	g.verifyClean(t)
}

// reservedStore calls before when an import has its numbers, before it is staged.
type reservedStore struct {
	ranking.Store

	before func()
}

func (s reservedStore) Stage(ctx context.Context, n *ranking.NewImport, people ranking.Seen) (ranking.Staged, error) {
	s.before()
	return s.Store.Stage(ctx, n, people)
}

// TestImportIsOvertaken checks that an import fails with ErrConflict if meanwhile another one has
// recorded its match, or somebody a match of the same day, and that it succeeds when it is run
// again.
func TestImportIsOvertaken(t *testing.T) {
	t.Parallel()
	const head, row, more = "date,a,b,score\n", "2026-11-29 20:00,alice,bobby,1:0\n", "2026-11-29 21:00,ann,bobby,1:0\n"
	for name, tc := range map[string]struct {
		text     string
		isStaged bool
		by       func(*testing.T, *dayGroup)
		known    int
	}{
		"by the same file": {head + row, false, func(t *testing.T, d *dayGroup) { d.importing(t, head+row) }, 1},
		"at its place":     {head + row, false, reportYesterday, 0},
		"between":          {head + row + more, true, reportYesterday, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newGameOn(pgtest.Borrow(t)).newDayGroup(t, club.ID, "base")
			importer, f := d.readImport(t, tc.text)
			by := func() { tc.by(t, d) }
			if importer.Use(reservedStore{d.store, by}); tc.isStaged {
				importer.Use(stagedStore{d.store, by})
			}
			_, err := importer.Import(t.Context(), f)
			if !errors.Is(err, ranking.ErrConflict) {
				t.Errorf("the import: %v", err)
			}
			r := d.importing(t, tc.text)
			equal(t, "known", tc.known, len(r.Known))
			all := d.ordered()
			equal(t, "matches", 12+1-tc.known+len(f.Rows), len(all))
			if !slices.IsSortedFunc(all, func(a, b dayMatch) int { return a.PlayedAt.Compare(b.PlayedAt) }) {
				t.Errorf("the order is %+v", all)
			}
			d.verifyClean(t)
		})
	}
}

func reportYesterday(t *testing.T, d *dayGroup) {
	t.Helper()
	d.report(t.Context(), &alice, "/match @bobby 3:1 yesterday")
}
