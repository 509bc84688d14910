package pgranking_test

import (
	"context"
	"errors"
	"testing"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
)

// lockedRead is the query that Lock runs in these tests.
var lockedRead = ranking.Query{
	Key: "1", Chat: club, KnownChat: true, Needs: ranking.Needs{People: []command.Person{alice, bob}},
}

func TestLockRollsBack(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		last func(locked ranking.Locked, c ranking.Changes) error
		want error
	}{
		"released": {func(ranking.Locked, ranking.Changes) error { return nil }, nil},
		"handled": {func(locked ranking.Locked, c ranking.Changes) error {
			c.Key = "handled"
			return locked.Apply(t.Context(), c)
		}, ranking.ErrHandled},
		"conflict": {func(locked ranking.Locked, c ranking.Changes) error {
			recorded(&c).Players[0].After.Version++
			return locked.Apply(t.Context(), c)
		}, ranking.ErrConflict},
		"rewrite": {func(locked ranking.Locked, c ranking.Changes) error {
			standing := recorded(&c).Players[0].Before
			stale := recorded(&c).Players[1].Before
			stale.Version++
			return locked.Rewrite(t.Context(), ladder.Rewrite{Standings: []ladder.Standing{standing, stale}})
		}, ranking.ErrConflict},
		// The transaction has failed; ignoring the error must not commit it.
		"error ignored": {func(locked ranking.Locked, c ranking.Changes) error {
			again := c
			again.Key = "handled"
			if err := locked.Apply(t.Context(), again); !errors.Is(err, ranking.ErrHandled) {
				return err
			}
			if err := locked.Apply(t.Context(), c); err == nil {
				return errors.New("the second time succeeds")
			}
			return nil
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, alice, bob)
			w.Play(t, "handled", alice, bob)
			w.Wakes.Store(0)
			w.Messages.Store(0)
			before := w.Contents(t)
			locked, snap, err := w.Store.Lock(t.Context(), lockedRead)
			dbtest.Must(t, err)
			c := dbtest.Match(snap, "1")
			c.Seen = seenIn(snap, asNew(t, w, carol))
			if err := tc.last(locked, c); !errors.Is(err, tc.want) {
				t.Errorf("error is %v, want %v", err, tc.want)
			}
			locked.Release(t.Context())
			locked.Release(t.Context()) // a second time has no effect
			dbtest.Equal(t, "something was written", before, w.Contents(t))
			// A command that was already handled wakes its lanes.
			if handled := name == "handled" || name == "error ignored"; !handled && w.Wakes.Load() != 0 {
				t.Error("woken for a commit that did not happen")
			}
			dbtest.Exec(t, w.Pool, group(club).take+" NOWAIT")
		})
	}
}

// TestLockIsReleased checks that neither a panic nor the end of the context leaves the group locked
// or the connection in use.
func TestLockIsReleased(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice, bob)
	for name, fail := range map[string]func(end context.CancelFunc){
		"panic": func(context.CancelFunc) { panic("on purpose") },
		"end":   func(end context.CancelFunc) { end() },
	} {
		func() {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			defer func() { _ = recover() }()
			_ = dbtest.InLock(ctx, w.Store, func(ranking.Locked, *ranking.Snapshot) error {
				fail(cancel)
				return nil
			})
		}()
		dbtest.Await(t, w.Pool, `
			SELECT count(*) = 1 FROM pg_stat_activity WHERE datname = current_database() AND state <> 'idle'`)
		if n := w.Pool.Stat().AcquiredConns(); n != 0 {
			t.Errorf("%s: %d connections are still in use", name, n)
		}
		w.Play(t, name, alice, bob)
	}
}

func TestLockExcludesOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice, bob)
	c := dbtest.Match(w.Read(t, alice, bob), "1")
	nothing := func(ranking.Locked, *ranking.Snapshot) error { return nil }
	for name, other := range map[string]func() error{
		"another one": func() error { return dbtest.InLock(t.Context(), w.Store, nothing) },
		"a match":     func() error { return w.Store.Apply(t.Context(), c) },
		"new people": func() error {
			return dbtest.Upsert(t.Context(), w.Store, club, []ranking.PlayerChange{dbtest.AsNew(carol)})
		},
	} {
		var waiting <-chan error
		err := dbtest.InLock(t.Context(), w.Store, func(ranking.Locked, *ranking.Snapshot) error {
			waiting = dbtest.Start(other)
			dbtest.Await(t, w.Pool, dbtest.Blocked)
			// Neither other groups nor readers have to wait.
			locked, _, err := w.Store.Lock(t.Context(), ranking.Query{Chat: attic, KnownChat: true})
			if err != nil {
				return err
			}
			locked.Release(t.Context())
			w.Read(t, alice, bob)
			return nil
		})
		dbtest.Must(t, err)
		if err := dbtest.Receive(t, waiting); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLockReadsAfterwards checks that Lock reads what the previous holder of the lock has written.
func TestLockReadsAfterwards(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice, bob)
	var next <-chan error
	err := dbtest.InLock(t.Context(), w.Store, func(locked ranking.Locked, _ *ranking.Snapshot) error {
		next = dbtest.Start(func() error {
			locked, snap, err := w.Store.Lock(t.Context(), lockedRead)
			if err != nil {
				return err
			}
			defer locked.Release(t.Context())
			if !snap.Handled || snap.People[0].Standing == nil || snap.People[0].Standing.Elo != 1516 {
				t.Errorf("read %+v", snap)
			}
			return locked.Apply(t.Context(), dbtest.Match(snap, "2"))
		})
		dbtest.Await(t, w.Pool, dbtest.Blocked)
		return locked.Apply(t.Context(), dbtest.Match(w.Read(t, alice, bob), "1"))
	})
	dbtest.Must(t, err)
	dbtest.Must(t, dbtest.Receive(t, next))
	if n := w.Wakes.Load(); n != 2+4 { // 4 for all lanes of the command that was already handled
		t.Errorf("woken %d times", n)
	}
	dbtest.Exec(t, w.Pool, group(club).take+" NOWAIT")
}

// TestLockOrder checks that a match with changed people and a changed chat takes its locks in the
// order group, key, people by id, standings by id, chat. While it waits for a lock, it holds the
// earlier locks in this order and no later ones.
func TestLockOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice, bob)
	w.Play(t, "1", bob, alice) // gives Bob's standing the lower id, although Alice has the lower player id
	match := func() error {
		snap := w.Read(t, alice, bob)
		c := dbtest.Match(snap, "2")
		c.Seen = seenIn(snap, without(snap.People[1]), without(snap.People[0]))
		c.Seen.Chat = &ranking.Chat{ID: club.ID, Kind: club.Kind, Title: "New"}
		return w.Store.Apply(t.Context(), c)
	}
	w.mustLockInOrder(t, match, group(club), lock{"key", `INSERT INTO handled_commands VALUES ('2')`},
		player("Alice"), player("Bob"), standing("Bob"), standing("Alice"),
		lock{"chat", `SELECT FROM chats FOR NO KEY UPDATE`})
}

// without returns the change by which a player gives up a username.
func without(k ranking.Known) ranking.PlayerChange {
	c := ranking.PlayerChange{Player: *k.Player}
	c.Player.Username = ""
	return c
}
