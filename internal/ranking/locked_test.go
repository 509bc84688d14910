package ranking_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"elobot/internal/ranking"
)

// delayedStore is a store with hooks before each Read and Apply. A hook may wait. If it returns an
// error, the call returns that error.
type delayedStore struct {
	ranking.Store
	read, apply func(ctx context.Context) error
	tries       []time.Duration // when Apply was called, since begun
	begun       time.Time
}

func (w *delayedStore) Read(ctx context.Context, q ranking.Query) (*ranking.Snapshot, error) {
	if w.read != nil {
		if err := w.read(ctx); err != nil {
			return nil, err
		}
	}
	return w.Store.Read(ctx, q)
}

func (w *delayedStore) Apply(ctx context.Context, c ranking.Changes) error {
	w.tries = append(w.tries, time.Since(w.begun))
	if err := w.apply(ctx); err != nil {
		return err
	}
	return w.Store.Apply(ctx, c)
}

// delay returns err after d, or ErrTimeout if the context ends first.
func delay(ctx context.Context, d time.Duration, err error) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return err
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ranking.ErrTimeout, ctx.Err())
	}
}

// TestLocked checks that a command retries after ErrLocked as long as there is time, and uses the
// rest of the time to ask its sender to try again. If the store is still locked then, the command
// fails.
func TestLocked(t *testing.T) {
	t.Parallel()
	const wait = 1500 * time.Millisecond
	for name, tc := range map[string]struct {
		free    time.Duration // when the lock is released
		tries   int
		applied bool
		match   bool
	}{
		"released at once":            {0, 1, true, true},
		"released after 5 s":          {5 * time.Second, 4, true, true},
		"released before the refusal": {6500 * time.Millisecond, 5, true, false},
		"never released":              {time.Hour, 5, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				memory := &memoryStore{}
				store := &delayedStore{Store: memory, begun: time.Now()}
				store.apply = func(ctx context.Context) error {
					left := max(0, tc.free-time.Since(store.begun))
					if left <= wait {
						return delay(ctx, left, nil)
					}
					return delay(ctx, wait, fmt.Errorf("apply: %w", ranking.ErrLocked))
				}
				service := newQuietService(store, slog.DiscardHandler)
				ctx, cancel := context.WithTimeout(t.Context(), 9*time.Second)
				defer cancel()
				err := service.RecordMatch(ctx, from(&alice, "m:1"), singles(alice, bob, 3, 0))
				if (err == nil) != tc.applied || err != nil && !errors.Is(err, ranking.ErrLocked) {
					t.Errorf("error is %v", err)
				}
				if len(store.tries) != tc.tries {
					t.Errorf("tries at %v, want %d", store.tries, tc.tries)
				}
				if (len(memory.applied) == 1) != tc.applied || tc.applied && (memory.applied[0].Effect != nil) != tc.match {
					t.Errorf("applied %+v", memory.applied)
				}
				if store.begun.Add(9 * time.Second).Before(time.Now()) {
					t.Errorf("it took %v", time.Since(store.begun))
				}
			})
		})
	}
}

// TestStoreTimeout checks that after a timeout, a command gets one more full attempt before its
// sender is asked to try again. If the store does not respond at all, the command fails without
// that answer.
func TestStoreTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		memory := &memoryStore{}
		store := &delayedStore{Store: memory, begun: time.Now()}
		silent := true
		store.read = func(ctx context.Context) error {
			if silent {
				return delay(ctx, time.Hour, nil)
			}
			return nil
		}
		slow := true
		store.apply = func(ctx context.Context) error {
			if slow {
				return delay(ctx, 8*time.Second, nil)
			}
			return nil
		}
		service := newQuietService(store, slog.DiscardHandler)
		record := func(key string) error {
			ctx, cancel := context.WithTimeout(t.Context(), 9*time.Second)
			defer cancel()
			return service.RecordMatch(ctx, from(&alice, key), singles(alice, bob, 3, 0))
		}
		mustTimeOut := func() {
			t.Helper()
			if err := record("m:1"); !errors.Is(err, ranking.ErrTimeout) || len(memory.applied) > 0 {
				t.Errorf("error is %v, applied %v", err, memory.applied)
			}
		}
		mustTimeOut()
		mustTimeOut()
		silent = false
		mustTimeOut()
		slow = false
		if err := record("m:2"); err != nil || len(memory.applied) != 1 || memory.applied[0].Effect == nil {
			t.Errorf("error is %v, applied %v", err, memory.applied)
		}
		memory.applied, slow = nil, true
		store.apply = func(ctx context.Context) error {
			slow = !slow
			if !slow {
				return delay(ctx, 8*time.Second, nil)
			}
			return nil
		}
		if err := record("m:1"); err != nil || len(memory.applied) != 1 || memory.applied[0].Effect != nil {
			t.Errorf("error is %v, applied %v", err, memory.applied)
		}
	})
}
