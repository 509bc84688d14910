package ranking_test

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/command"
	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
)

// replayCost is the cost of a command that replays the matches of a long ladder.
type replayCost struct {
	statements int
	rows       int // inserted, updated and deleted
	rewritten  int // history entries that no longer apply
	undone     int // matches that no longer count
}

// costOfReplay runs the operation as an admin in a ladder with 501 matches, and returns its cost.
func costOfReplay(t *testing.T, op ranking.Operation) (c replayCost) {
	t.Helper()
	var rec dbtest.Recorder
	// Everything uses one session, because a session can only flush its own row counts.
	pool := dbtest.Open(t, pgtest.New(t), func(config *pgxpool.Config) {
		config.MaxConns, config.ConnConfig.Tracer = 1, &rec
	})
	g := newGameOn(&pgtest.Database{Pool: pool})
	longLadder(t, g, 500)
	written := func() int {
		g.exec(t, `SELECT pg_stat_force_next_flush()`)
		return dbtest.Value[int](t, pool,
			`SELECT sum(n_tup_ins + n_tup_upd + n_tup_del)::bigint FROM pg_stat_user_tables`)
	}
	rewritten := func() int { return g.count(t, "elo_history WHERE superseded_at < 'infinity'") }
	user := command.Person{ID: 2, Username: "user_2", Name: "User 2"}
	o := g.origin(&user)
	rowsBefore, rewrittenBefore := written(), rewritten()
	rec.Take()
	must(t, g.Do(asAdmin(t), o, op))
	c.statements = len(rec.Take())
	c.rows, c.rewritten = written()-rowsBefore, rewritten()-rewrittenBefore
	c.undone = g.count(t, "matches WHERE undone_at IS NOT NULL")
	return c
}

// TestMergeCostsAsAnUndo checks that a merge costs little more than an undo. For each rewritten
// history entry, it changes at most 1.2 times as many rows. Not counting two statements for each
// match that no longer counts, it executes at most ten more statements.
func TestMergeCostsAsAnUndo(t *testing.T) {
	t.Parallel()
	undo := costOfReplay(t, ranking.UndoMatch{Amendment: matchNumber(1)})
	merge := costOfReplay(t, ranking.MergePlayers{From: 2, Into: 3})
	if min(undo.rewritten, merge.rewritten) < 400 || undo.undone != 1 || merge.undone == 0 {
		t.Fatalf("the costs %+v and %+v prove nothing", undo, merge)
	}
	ratio := float64(merge.rows) / float64(merge.rewritten) / (float64(undo.rows) / float64(undo.rewritten))
	if ratio > 1.2 || merge.statements-2*merge.undone > undo.statements-2*undo.undone+10 {
		t.Errorf("a merge costs %.2f times as many rows: %+v, an undo %+v", ratio, merge, undo)
	}
}
