package pgranking_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
)

func TestGroupLockCommits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice, bob)
	err := w.Store.WithGroupLock(t.Context(), club.ID, func(ctx context.Context, inside ranking.Store) error {
		snap, err := inside.Read(ctx, ranking.Query{Key: "1", Chat: club, People: []ranking.Person{alice, bob}})
		if err != nil {
			return err
		}
		if err := inside.Apply(ctx, dbtest.Match(snap, "1")); err != nil {
			return err
		}
		if w.Wakes.Load() != 0 {
			t.Error("woken before the commit")
		}
		if got := dbtest.Value[int](t, w.Pool, `SELECT count(*) FROM matches`); got != 0 {
			t.Errorf("others see %d matches before the commit", got)
		}
		return nil
	})
	dbtest.Must(t, err)
	if got := dbtest.Value[int](t, w.Pool, `SELECT count(*) FROM matches`); got != 1 || w.Wakes.Load() != 1 {
		t.Errorf("%d matches, woken %d times", got, w.Wakes.Load())
	}
}

func TestGroupLockRollsBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice, bob)
	before := w.Contents(t)
	errOwn := errors.New("own")
	for name, tc := range map[string]struct {
		last func(ctx context.Context, inside ranking.Store, done ranking.Changes) error
		want error
	}{
		"own error": {func(context.Context, ranking.Store, ranking.Changes) error { return errOwn }, errOwn},
		"handled": {func(ctx context.Context, inside ranking.Store, done ranking.Changes) error {
			return inside.Apply(ctx, done)
		}, ranking.ErrHandled},
		"conflict": {func(ctx context.Context, inside ranking.Store, done ranking.Changes) error {
			done.Key = "2"
			return inside.Apply(ctx, done)
		}, ranking.ErrConflict},
		// the transaction has failed; ignoring the error must not commit it
		"error ignored": {func(ctx context.Context, inside ranking.Store, done ranking.Changes) error {
			_ = inside.Apply(ctx, done)
			return nil
		}, nil},
	} {
		err := w.Store.WithGroupLock(t.Context(), club.ID, func(ctx context.Context, inside ranking.Store) error {
			changed := dbtest.AsNew(carol)
			if err := dbtest.Upsert(ctx, inside, club, []ranking.PlayerChange{changed}); err != nil {
				return err
			}
			snap, err := inside.Read(ctx, ranking.Query{Key: "1", Chat: club, People: []ranking.Person{alice, carol}})
			if err != nil {
				return err
			}
			done := dbtest.Match(snap, "1")
			if err := inside.Apply(ctx, done); err != nil {
				return err
			}
			return tc.last(ctx, inside, done)
		})
		if err == nil || tc.want != nil && !errors.Is(err, tc.want) {
			t.Errorf("%s: error is %v, want %v", name, err, tc.want)
		}
		if diff := cmp.Diff(before, w.Contents(t)); diff != "" {
			t.Errorf("%s: something was written:\n%s", name, diff)
		}
	}
	if w.Wakes.Load() != 0 {
		t.Error("woken for a commit that did not happen")
	}
}

// TestGroupLockPanics: a panic leaves neither the group locked nor the connection in use.
func TestGroupLockPanics(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice, bob)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		err := w.Store.WithGroupLock(t.Context(), club.ID, func(context.Context, ranking.Store) error { panic("on purpose") })
		t.Errorf("returned %v", err)
	}()
	if n := w.Pool.Stat().AcquiredConns(); n != 0 {
		t.Errorf("%d connections are still in use", n)
	}
	w.Play(t, "1", alice, bob)
}

func TestGroupLockExcludesOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice, bob)
	c := dbtest.Match(w.Read(t, alice, bob), "1")
	for name, other := range map[string]func() error{
		"another one": func() error {
			return w.Store.WithGroupLock(t.Context(), club.ID, func(context.Context, ranking.Store) error { return nil })
		},
		"a match": func() error { return w.Store.Apply(t.Context(), c) },
	} {
		var waiting <-chan error
		err := w.Store.WithGroupLock(t.Context(), club.ID, func(ctx context.Context, _ ranking.Store) error {
			waiting = dbtest.Start(other)
			dbtest.Await(t, w.Pool, dbtest.Blocked)
			// neither other groups nor readers have to wait
			if err := w.Store.WithGroupLock(ctx, -999, func(context.Context, ranking.Store) error { return nil }); err != nil {
				return err
			}
			w.Read(t, alice, bob)
			return nil
		})
		dbtest.Must(t, err)
		if err := dbtest.Receive(t, waiting); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLockOrder makes a match wait for each of its locks in turn, and checks which others it holds then: those before
// it in the order group, key, standings by id, and none after it.
func TestLockOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice, bob)
	w.Play(t, "1", bob, alice) // here the standings are in the opposite order to the next match
	order := []struct{ name, take, free string }{
		{"group", `SELECT FROM groups FOR NO KEY UPDATE`, `SELECT FROM groups FOR NO KEY UPDATE NOWAIT`},
		{"key", `INSERT INTO handled_commands VALUES ('2')`, ``},
		{
			"first standing", `SELECT FROM group_players WHERE name = 'Bob' FOR NO KEY UPDATE`,
			`SELECT FROM group_players WHERE name = 'Bob' FOR NO KEY UPDATE NOWAIT`,
		},
		{
			"second standing", `SELECT FROM group_players WHERE name = 'Alice' FOR NO KEY UPDATE`,
			`SELECT FROM group_players WHERE name = 'Alice' FOR NO KEY UPDATE NOWAIT`,
		},
	}
	if !dbtest.Value[bool](t, w.Pool, `SELECT (SELECT id FROM group_players WHERE name = 'Bob') < (SELECT id FROM group_players WHERE name = 'Alice')`) {
		t.Fatal("the standings are not in the order that this test needs")
	}
	for at, step := range order {
		holder := dbtest.Begin(t, w.Pool)
		dbtest.Exec(t, holder, step.take)
		c := dbtest.Match(w.Read(t, alice, bob), "2")
		waiting := dbtest.Start(func() error { return w.Store.Apply(t.Context(), c) })
		dbtest.Await(t, w.Pool, dbtest.Blocked)
		for i, other := range order {
			if i == at || other.free == "" {
				continue
			}
			_, err := w.Pool.Exec(t.Context(), other.free)
			if held := err != nil; held != (i < at) {
				t.Errorf("waiting for the %s, it holds the %s: %t", step.name, other.name, held)
			}
		}
		dbtest.Exec(t, w.Pool, `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
			WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0`)
		if err := dbtest.Receive(t, waiting); !errors.Is(err, ranking.ErrTimeout) {
			t.Errorf("waiting for the %s it is canceled: %v", step.name, err)
		}
		dbtest.Must(t, holder.Rollback(t.Context()))
	}
}
