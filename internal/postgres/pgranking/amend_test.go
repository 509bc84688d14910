package pgranking_test

import (
	"context"
	"errors"
	"testing"

	"elobot/internal/ladder"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
)

var errPlanned = errors.New("only planned")

// planner is a store that keeps the changes it is asked to apply, and applies nothing.
type planner struct {
	ranking.Store
	changes *ranking.Changes
}

func (p planner) Apply(_ context.Context, c ranking.Changes) error {
	*p.changes = c
	return errPlanned
}

func (p planner) Lock(ctx context.Context, q ranking.Query) (ranking.Locked, *ranking.Snapshot, error) {
	locked, snap, err := p.Store.Lock(ctx, q)
	return lockedPlanner{locked, p}, snap, err
}

type lockedPlanner struct {
	ranking.Locked
	outer planner
}

func (p lockedPlanner) Apply(ctx context.Context, c ranking.Changes) error {
	return p.outer.Apply(ctx, c)
}

// plan returns the changes that a command would make.
func (w *world) plan(t *testing.T, command func(*ranking.Service) error) ranking.Changes {
	t.Helper()
	var c ranking.Changes
	if err := command(dbtest.Service(planner{w.Store, &c})); !errors.Is(err, errPlanned) {
		t.Fatalf("error is %v", err)
	}
	return c
}

// commands maps names to commands that can run in the world of newAmendable.
var commands = map[string]func(context.Context, *ranking.Service) error{
	"match": func(ctx context.Context, s *ranking.Service) error {
		return s.Do(ctx, dbtest.By("k", carol), dbtest.Reported(aliceBeatsBob))
	},
	"undo": func(ctx context.Context, s *ranking.Service) error {
		return s.Do(ctx, dbtest.By("k", alice), ranking.UndoMatch{Amendment: dbtest.Number(2)})
	},
	"restore": func(ctx context.Context, s *ranking.Service) error { // after an undo
		return s.Do(ctx, dbtest.By("k", alice), ranking.RestoreMatch{Amendment: dbtest.Number(2)})
	},
	"fix": func(ctx context.Context, s *ranking.Service) error {
		return s.Do(ctx, dbtest.By("k", alice), ranking.FixMatch{
			Amendment: dbtest.Number(2), Scores: []ladder.Score{{A: 11, B: 7}, {A: 7, B: 11}, {A: 8, B: 11}},
		})
	},
}

// newAmendable returns a world with four matches; the later matches depend on the second.
func newAmendable(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, alice, bob, carol)
	w.Record(t, "m1", alice, carol, 3, 1)
	w.Record(t, "m2", alice, bob, 3, 1)
	w.Record(t, "m3", bob, alice, 2, 2)
	w.Record(t, "m4", bob, carol, 3, 1)
	return w
}
