package ranking_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"elobot/internal/ladder"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// conflictingStore is a store whose first calls of Apply fail with ErrConflict.
type conflictingStore struct {
	ranking.Store
	left *atomic.Int64
	// log is called by each Apply. exclusive reports whether the group was locked.
	log func(exclusive bool)
}

func (l conflictingStore) Apply(ctx context.Context, c ranking.Changes) error {
	return l.apply(ctx, c, false, l.Store.Apply)
}

func (l conflictingStore) apply(
	ctx context.Context, c ranking.Changes, exclusive bool, apply func(context.Context, ranking.Changes) error,
) error {
	l.log(exclusive)
	if l.left.Add(-1) >= 0 {
		return fmt.Errorf("apply: %w", ranking.ErrConflict)
	}
	return apply(ctx, c)
}

func (l conflictingStore) Lock(ctx context.Context, q ranking.Query) (ranking.Locked, *ranking.Snapshot, error) {
	locked, snap, err := l.Store.Lock(ctx, q)
	return conflictingLock{locked, l}, snap, err
}

// conflictingLock is a transaction of a conflictingStore.
type conflictingLock struct {
	ranking.Locked
	store conflictingStore
}

func (l conflictingLock) Apply(ctx context.Context, c ranking.Changes) error {
	return l.store.apply(ctx, c, true, l.Locked.Apply)
}

// conflicting wraps a store so that Apply fails with ErrConflict the given number of times, and
// then works. Each call of Apply also calls log.
func conflicting(store ranking.Store, times int64, log func(exclusive bool)) conflictingStore {
	s := conflictingStore{Store: store, left: new(atomic.Int64), log: log}
	s.left.Store(times)
	return s
}

// memoryStore is an in-memory store that knows all people and keeps the applied changes. It cannot
// amend matches.
type memoryStore struct {
	ranking.Store
	applied []ranking.Changes
}

func (e *memoryStore) Read(_ context.Context, q ranking.Query) (*ranking.Snapshot, error) {
	snap := &ranking.Snapshot{Here: ranking.Here{
		ChatID: 1, Chat: q.Chat, Group: 1,
		Ladder: ranking.Ladder{ID: 1, Rules: ranking.Rules{Start: 1500, RatingRules: ladder.RatingRules{K: 32}}},
	}}
	for i, p := range q.People {
		player := &ranking.Player{ID: ladder.PlayerID(i + 1), UserID: p.ID, Username: p.Username, Name: p.Name}
		snap.People = append(snap.People, ranking.Known{ByID: player, Player: player})
	}
	return snap, nil
}

func (e *memoryStore) Lock(ctx context.Context, q ranking.Query) (ranking.Locked, *ranking.Snapshot, error) {
	snap, err := e.Read(ctx, q)
	return memoryLock{store: e}, snap, err
}

func (e *memoryStore) Apply(_ context.Context, c ranking.Changes) error {
	e.applied = append(e.applied, c)
	return nil
}

// memoryLock is a transaction of a memoryStore.
type memoryLock struct {
	ranking.Locked
	store *memoryStore
}

func (l memoryLock) Apply(ctx context.Context, c ranking.Changes) error { return l.store.Apply(ctx, c) }
func (l memoryLock) Release(context.Context)                            {}

// try is a call of Apply: the time since the command began, and whether the group was locked.
type try struct {
	After     time.Duration
	Exclusive bool
}

// TestRetries checks that a command is tried again after each of its first three conflicts. After
// the fourth, it is refused. If the refusal conflicts too, the command fails.
func TestRetries(t *testing.T) {
	t.Parallel()
	all := []try{
		{0, false}, {100 * time.Millisecond, true}, {300 * time.Millisecond, true}, {700 * time.Millisecond, true},
	}
	for lost := range 6 {
		t.Run(fmt.Sprintf("%d lost", lost), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				memory, logged := &memoryStore{}, &logRecords{}
				started := time.Now()
				var tries []try
				store := conflicting(memory, int64(lost), func(exclusive bool) {
					tries = append(tries, try{time.Since(started), exclusive})
				})
				service := newQuietService(store, logged)
				err := service.RecordMatch(t.Context(), from(&alice, "m:1"), singles(alice, bob, 3, 0))
				want := all[:min(lost, 3)+1]
				if lost >= 4 {
					// The last attempt is the refusal.
					want = append(slices.Clone(want), try{700 * time.Millisecond, false})
				}
				equal(t, "tries", want, tries)
				if lost == 5 {
					if !errors.Is(err, ranking.ErrConflict) || len(memory.applied) > 0 {
						t.Errorf("error is %v, applied %+v", err, memory.applied)
					}
					return
				}
				must(t, err)
				if len(memory.applied) != 1 || memory.applied[0].Key != "m:1" || (memory.applied[0].Effect == nil) != (lost == 4) {
					t.Errorf("applied %+v", memory.applied)
				}
				mustLog(t, logged, lost)
			})
		})
	}
}

// TestRecentConflict checks that for a second after a conflict in a chat, or after a result that
// locked the group for that reason, the first attempt at a result locks the group. Questions never
// lock it, not even when they are tried again.
func TestRecentConflict(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var locked []bool
		store := conflicting(&memoryStore{}, 0, func(exclusive bool) { locked = append(locked, exclusive) })
		service := ranking.NewService(store, &spy{}, dbtest.Admins{}, slog.New(slog.DiscardHandler), ranking.Settings{})
		elsewhere := from(&alice, "m:2")
		elsewhere.Chat.ID--
		for i, tc := range []struct {
			lost   int64
			after  time.Duration
			origin ranking.Origin
			want   []bool
		}{
			{0, 0, from(&alice, "m:1"), []bool{false}},
			{1, 0, from(&alice, "m:1"), []bool{false, true}},
			{0, 0, elsewhere, []bool{false}},
			{0, 900 * time.Millisecond, from(&alice, "m:3"), []bool{true}},
			{0, 900 * time.Millisecond, from(&alice, "m:3b"), []bool{true}}, // each such result extends the time
			{0, 1100 * time.Millisecond, from(&alice, "m:4"), []bool{false}},
		} {
			store.left.Store(tc.lost)
			<-time.After(tc.after)
			locked = nil
			must(t, service.RecordMatch(t.Context(), tc.origin, singles(alice, bob, 3, 0)))
			equal(t, fmt.Sprintf("result %d locked the group", i+1), tc.want, locked)
		}
		store.left.Store(1)
		must(t, service.RecordMatch(t.Context(), from(&alice, "m:5"), singles(alice, bob, 3, 0)))
		locked = nil
		must(t, service.Do(t.Context(), from(&alice, "m:6"), ranking.Say{Notice: ranking.Refusal{}}))
		equal(t, "an answer locked the group", []bool{false}, locked)
		store.left.Store(1)
		locked = nil
		// A question does not lock the group, because answering it may take long.
		must(t, service.Do(t.Context(), from(&alice, "m:7"), ranking.Ask{Question: stats.RankingQuestion{}}))
		store.left.Store(1)
		must(t, service.Do(t.Context(), saying(from(&alice, "m:8"), "stats", "Alice"),
			ranking.Ask{Question: stats.Typed{Form: stats.PersonCommand{}}}))
		equal(t, "a question that is tried again locked the group", []bool{false, false, false, false}, locked)
	})
}

// TestAnonymousReportLocks checks that after a conflict, the second attempt at an anonymous admin's
// report locks the group.
func TestAnonymousReportLocks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var locked []bool
		store := conflicting(&memoryStore{}, 1, func(exclusive bool) { locked = append(locked, exclusive) })
		o := saying(from(nil, "m:1"), "match", "@ @ 3:0 golf", alice, bob)
		service := newQuietService(store, slog.DiscardHandler)
		must(t, service.Do(t.Context(), o, ranking.ReadReport{}))
		equal(t, "locked the group", []bool{false, true}, locked)
	})
}

func mustLog(t *testing.T, logged *logRecords, lost int) {
	t.Helper()
	conflicts := slices.DeleteFunc(slices.Clone(logged.all),
		func(r map[string]any) bool { return r["msg"] == "command handled" })
	if len(conflicts) != lost || len(logged.all) != lost+1 {
		t.Errorf("logged %v, want %d conflicts and the outcome of the command", logged.all, lost)
	}
	for i, r := range conflicts {
		if r["attempt"] != int64(i+1) || r["key"] != "m:1" || r["level"] != slog.LevelWarn || r["command"] != "record match" {
			t.Errorf("conflict %d is logged as %v", i+1, r)
		}
		if err, ok := r["error"].(error); !ok || !errors.Is(err, ranking.ErrConflict) {
			t.Errorf("conflict %d has the error %v", i+1, r["error"])
		}
	}
}

// TestCancelledBetweenRetries checks that a canceled command changes nothing. A command that runs
// out of time between two retries still has time for a refusal.
func TestCancelledBetweenRetries(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(context.Context) (context.Context, context.CancelFunc){
		"canceled": func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(200*time.Millisecond, cancel)
			return ctx, cancel
		},
		"out of time": func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 200*time.Millisecond)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				memory := &memoryStore{}
				service := newQuietService(conflicting(memory, 2, func(bool) {}), slog.DiscardHandler)
				ctx, cancel := stop(t.Context())
				defer cancel()
				err := service.RecordMatch(ctx, from(&alice, "m:1"), singles(alice, bob, 3, 0))
				switch {
				case name == "canceled" && (err == nil || len(memory.applied) > 0):
					t.Errorf("error is %v, applied %v", err, memory.applied)
				case name != "canceled" && (err != nil || len(memory.applied) != 1 || memory.applied[0].Effect != nil):
					t.Errorf("error is %v, applied %v", err, memory.applied)
				}
			})
		})
	}
}
