package outbox

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestStoreIsUnavailable checks that, if all calls to Store.Advance fail for a while, nothing is
// lost or sent twice. The log reports the start and the end of the outage, once each.
func TestStoreIsUnavailable(t *testing.T) {
	t.Parallel()
	const chats, items, outage = 20, 10, 10 * time.Minute
	for _, latency := range []time.Duration{0, 30 * time.Millisecond, 3 * time.Second} {
		inBubble(t, fmt.Sprint("requests last ", latency), func(t *testing.T) {
			store, book := newMemory(), newLogbook()
			sender := newMessenger(t, func(ctx context.Context, m Message) error {
				if err := answersAfter(latency)(ctx, m); err != nil || m.Row.ID%7 != 0 {
					return err
				}
				return failure(Rejected)
			})
			start := time.Now() // of the outage: before the first take, or during a request
			if latency > 0 {
				start = start.Add(10 * time.Millisecond)
			}
			end := time.Now().Add(outage + 10*time.Millisecond)
			calls := 0
			var sizes []int // sizes of the steps after the outage
			store.onAdvance = func(_ context.Context, results []Result, lanes []Lane) error {
				now, size := time.Now(), len(results)+len(lanes)
				if now.Before(start) {
					return nil
				}
				if !now.Before(end) {
					sizes = append(sizes, size)
					return nil
				}
				if calls++; calls > 1 && size != 1 {
					t.Errorf("a step of %d entries while nothing can be persisted", size)
				}
				return errUnavailable
			}
			for range items {
				for c := range ChatID(chats) {
					store.add(c)
				}
			}
			run(t, NewDispatcher(store, sender, slog.New(book), Settings{Bounds: Bounds{Merge: 1}}), newLease(1))
			advance(t, outage+10*time.Millisecond-1)
			for c := range ChatID(chats) {
				if n := len(sender.to(c)); n > 1 {
					t.Errorf("%d requests for chat %d while nothing can be persisted", n, c)
				}
			}
			limit := int(outage / persistRetryDelay)
			if calls > limit+1 || calls < limit/2 {
				t.Errorf("the store was called %d times, want about %d", calls, limit)
			}
			advance(t, time.Minute)
			equal(t, len(sender.all()), chats*items, "requests")
			if sent, dead := store.count(rowSent), store.count(rowDead); sent+dead != chats*items || dead != chats*items/7 {
				t.Errorf("%d are sent, %d dead of %d", sent, dead, chats*items)
			}
			for id := int64(1); id <= chats*items; id++ {
				if r := store.row(id); r.PossibleDuplicates != 0 {
					t.Errorf("item %d counts as a possible duplicate", id)
				}
			}
			if limit := slices.Max(sizes); sizes[0] != 1 || limit < 3 {
				t.Errorf("after the outage, the first step has %d entries, the largest %d", sizes[0], limit)
			}
			begins := len(book.lines("failed to persist delivery results, retrying"))
			if ends := len(book.lines("delivery results can be persisted again")); begins != 1 || ends != 1 {
				t.Errorf("the log reports %d starts and %d ends, want one each", begins, ends)
			}
		})
	}
}

// TestPoison checks that a result that can never be persisted, or a lane that can never be taken,
// delays the other chats by a few seconds at most.
func TestPoison(t *testing.T) {
	t.Parallel()
	const poisoned, chats, rounds = ChatID(0), 60, 30
	results := func(results []Result, _ []Lane) bool {
		return slices.ContainsFunc(results, func(r Result) bool { return r.Message.Lane.Chat == poisoned })
	}
	takes := func(_ []Result, lanes []Lane) bool { return slices.Contains(lanes, Lane{Chat: poisoned}) }
	for name, poison := range map[string]func([]Result, []Lane) bool{"result": results, "lane": takes} {
		inBubble(t, name, func(t *testing.T) {
			store, sender := newMemory(), newMessenger(t, nil)
			store.onAdvance = func(ctx context.Context, results []Result, lanes []Lane) error {
				if err := sleep(ctx, 5*time.Millisecond); err != nil {
					return err
				}
				if poison(results, lanes) {
					return errUnavailable
				}
				return nil
			}
			store.add(poisoned, poisoned)
			p := dispatch(t, store, sender, Settings{})
			waits := make([]time.Duration, 0, chats*rounds)
			for range rounds {
				for c := ChatID(1); c <= chats; c++ {
					store.add(c)
					p.Wake(c)
				}
				advance(t, 2*time.Second)
			}
			advance(t, 10*time.Second)
			for c := ChatID(1); c <= chats; c++ {
				for _, r := range sender.to(c) {
					waits = append(waits, r.begun.Sub(r.message.rowIn(store).created))
				}
			}
			slices.Sort(waits)
			if n := store.count(rowSent); n != chats*rounds || len(waits) != chats*rounds {
				t.Fatalf("%d are sent in %d requests, want %d", n, len(waits), chats*rounds)
			}
			worst := waits[len(waits)-1]
			t.Logf("the others wait for %v (median), %v (maximum)", waits[len(waits)/2], worst)
			if waits[len(waits)/2] > time.Second || worst > 5*time.Second {
				t.Error("the others are delayed")
			}
		})
	}
}

func (m Message) rowIn(store *memory) row { return store.row(m.Row.ID) }

// TestStepsAreBatched checks that only one batch is written at a time. The results and takes that
// come up meanwhile form the next batch, which has at most maxBatch entries.
func TestStepsAreBatched(t *testing.T) {
	t.Parallel()
	for _, parallel := range []int{8, 32, 600} {
		inBubble(t, fmt.Sprint(parallel), func(t *testing.T) {
			const items = 5
			type step struct{ Results, Lanes int }
			var steps []step
			var inFlight atomic.Int32
			var mu sync.Mutex
			store := newMemory()
			sender := newMessenger(t, answersAfter(time.Millisecond))
			store.onAdvance = func(ctx context.Context, results []Result, lanes []Lane) error {
				if inFlight.Add(1) > 1 {
					t.Error("two steps at the same time")
				}
				defer inFlight.Add(-1)
				mu.Lock()
				steps = append(steps, step{len(results), len(lanes)})
				mu.Unlock()
				return sleep(ctx, 20*time.Millisecond)
			}
			for range items {
				for c := range ChatID(parallel) {
					store.add(c)
				}
			}
			dispatch(t, store, sender, Settings{Parallel: parallel, PollEvery: noPolls.PollEvery})
			advance(t, time.Minute)
			if n := store.count(rowSent); n != parallel*items {
				t.Fatalf("%d are sent, want %d", n, parallel*items)
			}
			together := 0
			for _, s := range steps {
				together = max(together, s.Results)
				if s.Results+s.Lanes > maxBatch {
					t.Errorf("a step of %d results and %d lanes", s.Results, s.Lanes)
				}
			}
			if want := min(parallel-1, maxBatch); together < want { // the first result goes alone
				t.Errorf("at most %d results in one step, want %d", together, want)
			}
			if limit := 3*items*(parallel/maxBatch+1) + 3; len(steps) > limit {
				t.Errorf("%d steps, want at most %d", len(steps), limit)
			}
		})
	}
}
