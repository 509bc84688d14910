package ranking_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"elobot/internal/ladder"
	"elobot/internal/ranking"
)

// contents returns all rows of the tables that a repair could affect. A key is the table and the
// row's id, or the table and the row itself if the row has no id.
func (g *game) contents(t *testing.T) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for _, table := range []string{"groups", "ladders", "group_players", "matches", "elo_history", "outbox"} {
		for _, r := range rows[struct {
			ID  int
			Row string
		}](t, g, fmt.Sprintf("SELECT id, r::text FROM %s r", table)) {
			all[fmt.Sprintf("%s %d", table, r.ID)] = r.Row
		}
	}
	for _, table := range []string{"match_players", "handled_commands"} {
		for _, row := range texts(t, g, fmt.Sprintf("SELECT r::text FROM %s r", table)) {
			all[table+" "+row] = row
		}
	}
	return all
}

// standing holds the fields of a stored standing that the tests compare.
type standing struct {
	ID, Elo, Start, Best, Played, Won, Drawn, Lost, Streak int
	LastPlayed                                             *time.Time
}

func (g *game) standings(t *testing.T) []standing {
	t.Helper()
	return rows[standing](t, g,
		"SELECT id, elo, start_elo, best_elo, played, won, drawn, lost, streak, last_played_at FROM group_players ORDER BY id")
}

type entryRow struct {
	ID         int
	Row        string // without superseded_at
	Reason     string
	Superseded bool
}

func (g *game) history(t *testing.T) []entryRow {
	t.Helper()
	return rows[entryRow](t, g, `
		SELECT id, (to_jsonb(h) - 'superseded_at')::text, reason, superseded_at < 'infinity'
		FROM elo_history h ORDER BY id`)
}

func repair(ctx context.Context, store ranking.Store) (bool, error) {
	return ranking.Repair(ctx, store, club.ID, 1)
}

// mustRepair repairs the season of the club, and fails if there is nothing to repair.
func (g *game) mustRepair(t *testing.T) {
	t.Helper()
	if repaired, err := repair(t.Context(), g.store); err != nil || !repaired {
		t.Fatalf("repaired %t: %v", repaired, err)
	}
}

// mustRepairNothing checks that a repair changes nothing and fails with the given error, if any.
func (g *game) mustRepairNothing(t *testing.T, want error) {
	t.Helper()
	before := g.contents(t)
	if repaired, err := repair(t.Context(), g.store); repaired || !errors.Is(err, want) {
		t.Errorf("repaired %t: %v", repaired, err)
	}
	equal(t, "something was changed", before, g.contents(t))
}

// mustAppend checks that a repair kept all history entries, except for marking some as superseded,
// and that the new ones have the reason "repair".
func mustAppend(t *testing.T, before, after []entryRow) {
	t.Helper()
	if len(after) < len(before) {
		t.Fatalf("the history shrank from %d entries to %d", len(before), len(after))
	}
	for i, was := range before {
		if is := after[i]; is.Row != was.Row || was.Superseded && !is.Superseded {
			t.Errorf("history entry %d was %+v, is %+v", was.ID, was, is)
		}
	}
	for _, is := range after[len(before):] {
		if is.Reason != "repair" || is.Superseded {
			t.Errorf("unexpected new history entry: %+v", is)
		}
	}
}

// nextTransaction returns an id that later transactions reach or exceed.
func (g *game) nextTransaction(t *testing.T) int {
	t.Helper()
	return rows1[int](t, g, "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint")[0]
}

// mustBeOneTransaction checks that a single transaction with an id of at least since wrote to the
// history, the standings and the matches.
func (g *game) mustBeOneTransaction(t *testing.T, since int) {
	t.Helper()
	written := rows1[int](t, g, `
		SELECT DISTINCT id FROM (
		    SELECT xmin::text::bigint FROM elo_history UNION ALL SELECT xmin::text::bigint FROM group_players
		    UNION ALL SELECT xmin::text::bigint FROM matches) AS w (id)
		WHERE id >= $1`, since)
	if len(written) != 1 {
		t.Errorf("the repair used %d transactions", len(written))
	}
}

// TestRepairIsAllOrNothing checks that if a repair fails to update the standings, its changes to
// the history are rolled back.
func TestRepairIsAllOrNothing(t *testing.T) {
	t.Parallel()
	g := newAuditGame(t)
	g.corrupt(t, "another score")
	g.exec(t, "ALTER TABLE group_players ADD CONSTRAINT resist CHECK (elo <> 1503)")
	before := g.contents(t)
	if repaired, err := repair(t.Context(), g.store); err == nil || repaired {
		t.Errorf("repaired %t: %v", repaired, err)
	}
	equal(t, "something was changed", before, g.contents(t))
	g.exec(t, "ALTER TABLE group_players DROP CONSTRAINT resist")
	g.mustRepair(t)
	g.verifyClean(t)
}

// TestRepairOneLadder checks that a repair leaves other groups alone.
func TestRepairOneLadder(t *testing.T) {
	t.Parallel()
	g := newAuditGame(t)
	g.exec(t, "UPDATE group_players SET best_elo = 9999")
	g.corrupted = true
	g.mustRepair(t)
	found := verify(t, g.store)
	for _, f := range found {
		if f.Chat != pub.ID {
			t.Errorf("found after the repair: %+v", f)
		}
	}
	if len(found) != 3 {
		t.Errorf("%d problems are left in the other group, want 3", len(found))
	}
}

// TestAmendAfterRepair checks that matches of a repaired season can be fixed and undone.
func TestAmendAfterRepair(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"an entry missing", "an entry of an undone match", "another score", "a player on the other side",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newAuditGame(t)
			g.corrupt(t, name)
			g.mustRepair(t)
			must(t, g.Do(asAdmin(t), g.origin(&alice),
				ranking.FixMatch{Amendment: matchNumber(2), Scores: []ladder.Score{{A: 9, B: 2}}}))
			for _, n := range []int{7, 1} {
				must(t, g.Do(asAdmin(t), g.origin(&alice), ranking.UndoMatch{Amendment: matchNumber(n)}))
			}
			g.record(t, &alice, alice, zoe, 3, 1)
			g.verifyClean(t)
			g.has(t, 3, "matches WHERE undone_at IS NOT NULL")
			g.has(t, 2, "match_fixes")
		})
	}
}

// beforeRewriteStore is a store that calls do between the reads and the writes of a repair.
type beforeRewriteStore struct {
	ranking.Store
	do func(context.Context) error
}

func (c beforeRewriteStore) Lock(ctx context.Context, q ranking.Query) (ranking.Locked, *ranking.Snapshot, error) {
	locked, snap, err := c.Store.Lock(ctx, q)
	return beforeRewriteLock{locked, c.do}, snap, err
}

type beforeRewriteLock struct {
	ranking.Locked
	do func(context.Context) error
}

func (c beforeRewriteLock) Rewrite(ctx context.Context, w ladder.Rewrite) error {
	if err := c.do(ctx); err != nil {
		return err
	}
	return c.Locked.Rewrite(ctx, w)
}

// TestRepairWhileMatchesAreRecorded checks that matches reported during a repair wait for its end
// and then count.
func TestRepairWhileMatchesAreRecorded(t *testing.T) {
	t.Parallel()
	const reports = 3
	g := newAuditGame(t)
	g.corrupt(t, "another score")
	before := g.count(t, "matches WHERE group_id = club()")
	others := g.newInstance()
	var reporters errgroup.Group
	store := beforeRewriteStore{g.store, func(ctx context.Context) error {
		for range reports {
			o := g.origin(&alice)
			reporters.Go(func() error { return others.RecordMatch(t.Context(), o, singles(alice, bob, 3, 0)) })
		}
		return g.awaitBlocked(ctx, reports)
	}}
	if repaired, err := repair(t.Context(), store); err != nil || !repaired {
		t.Errorf("repaired %t: %v", repaired, err)
	}
	must(t, reporters.Wait())
	g.has(t, before+reports, "matches WHERE group_id = club()")
	g.verifyClean(t)
}

// awaitBlocked waits until n sessions wait for a lock.
func (g *game) awaitBlocked(ctx context.Context, n int) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		var blocked int
		err := g.pool.QueryRow(ctx, `
			SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&blocked)
		if err != nil {
			return fmt.Errorf("count blocked sessions: %w", err)
		}
		if blocked >= n {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
