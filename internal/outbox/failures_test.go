package outbox

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// checkBackoff checks that the pauses between requests grow from 0.5 s to 20 s, within the jitter.
// The requests began at the given times and took no time.
func checkBackoff(t *testing.T, begun []time.Time) {
	t.Helper()
	base := 500 * time.Millisecond
	for i := range len(begun) - 1 {
		checkBetween(t, fmt.Sprintf("wait %d", i), begun[i+1].Sub(begun[i]), base*7/10-rounding, base*13/10+rounding)
		base = min(2*base, 20*time.Second)
	}
}

// TestBackoff checks that, after failures that the item did not cause, the pauses grow to at most
// 20 s, and the item never becomes a dead letter.
func TestBackoff(t *testing.T) {
	t.Parallel()
	for _, kind := range []FailureKind{Unreachable, Unauthorized, Migrated, "of a new kind"} {
		inBubble(t, string(kind), func(t *testing.T) {
			const chat = ChatID(3)
			errs := slices.Repeat([]error{failure(kind)}, 60)
			store, sender := newMemory(), newMessenger(t, scripted(map[int64][]error{1: errs, 3: errs[:4]}))
			store.add(chat, chat, chat)
			dispatch(t, store, sender, Settings{})
			advance(t, 30*time.Minute)
			var first, third []time.Time
			for _, r := range sender.to(chat) {
				switch r.ids[0] {
				case 1:
					first = append(first, r.begun)
				case 3:
					third = append(third, r.begun)
				}
			}
			if len(first) != len(errs)+1 || len(third) != 5 {
				t.Fatalf("%d and %d requests, want %d and 5", len(first), len(third), len(errs)+1)
			}
			checkBackoff(t, first)
			checkBackoff(t, third) // the backoff starts over after a success
			equal(t, store.count(rowSent), 3, "items sent")
		})
	}
}

// TestBackoffIsForgotten checks that the backoff of a lane starts over after the lane had nothing
// to send.
func TestBackoffIsForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newMemory()
		sender := newMessenger(t, scripted(map[int64][]error{
			1: nil, 2: slices.Repeat([]error{failure(Unreachable)}, 100), 3: {failure(Unreachable)},
		}))
		p := dispatch(t, store, sender, Settings{Limits: Limits{Group: []Window{{1000, time.Hour}}}})
		store.put(row{chat: 1}) // counts against the limit, which keeps the lane in memory
		store.put(row{chat: 1, expires: time.Now().Add(5 * time.Minute)})
		p.Wake(1)
		advance(t, 6*time.Minute)
		if r := store.row(2); r.state != rowExpired {
			t.Fatalf("the second item is %s, want expired", r.state)
		}
		store.add(1)
		p.Wake(1)
		advance(t, time.Minute)
		to := sender.to(1)
		checkBackoff(t, []time.Time{to[len(to)-2].begun, to[len(to)-1].begun})
	})
}

// TestRateLimitedWithoutATime checks that, without a RetryAfter, the pauses after rate limits are
// at least a second long, and grow to at most 20 s.
func TestRateLimitedWithoutATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newMemory()
		sender := newMessenger(t, scripted(map[int64][]error{1: slices.Repeat([]error{rateLimited(0)}, 20)}))
		store.add(1, 1)
		dispatch(t, store, sender, Settings{})
		advance(t, 10*time.Minute)
		to := sender.to(1)
		if len(to) != 20+1+1 {
			t.Fatalf("%d requests, want 22", len(to))
		}
		base := 500 * time.Millisecond
		for i := range 20 {
			low, high := max(time.Second, base*7/10), max(time.Second, base*13/10)
			checkBetween(t, fmt.Sprintf("wait %d", i), to[i+1].begun.Sub(to[i].begun), low-rounding, high+rounding)
			base = min(2*base, 20*time.Second)
		}
	})
}

// TestFailuresEnd checks that, after Settings.MaxFailures requests that failed for an unknown
// reason, an item becomes a dead letter and the lane continues with the next item.
func TestFailuresEnd(t *testing.T) {
	t.Parallel()
	others := []error{failure(Unreachable), rateLimited(time.Second), rateLimited(0), failure(Unauthorized)}
	cases := map[string]struct {
		err      error
		merge    int
		settings int
		requests int
	}{
		"an error":             {errors.New("unknown error"), 1, 0, 8},
		"a failure":            {failure(Failed), 1, 0, 8},
		"a panic":              {errPanic, 1, 0, 8},
		"fewer":                {failure(Failed), 1, 3, 3},
		"first of a few":       {failure(Failed), 64, 0, 8},
		"first of a few, once": {failure(Failed), 64, 1, 1},
	}
	for name, c := range cases {
		inBubble(t, name, func(t *testing.T) {
			const chat = ChatID(1)
			// Other failures in between do not count.
			var errs []error
			for n := range c.requests {
				if n < 4 { // a fifth one would make the item Uncertain
					errs = append(errs, failure(Ambiguous))
				}
				errs = append(append(errs, others...), c.err)
			}
			store, sender := newMemory(), newMessenger(t, scripted(map[int64][]error{1: errs}))
			store.add(chat, chat)
			p := dispatch(t, store, sender, Settings{
				PollEvery: noPolls.PollEvery, MaxFailures: c.settings, Bounds: Bounds{Merge: c.merge},
			})
			advance(t, time.Hour)
			to := sender.to(chat)
			if len(to) != len(errs)+1 || !slices.Equal(to[len(errs)].ids, []int64{2}) {
				t.Fatalf("%d requests, the last one for %v, want %d, the last one for the second item",
					len(to), to[len(to)-1].ids, len(errs)+1)
			}
			first, second := store.row(1), store.row(2)
			if first.state != rowDead || first.Failures != c.requests || first.lastError == "" {
				t.Errorf("the first item is %s after %d failures with error %q, want dead after %d",
					first.state, first.Failures, first.lastError, c.requests)
			}
			if second.state != rowSent || second.Failures != 0 {
				t.Errorf("the second item is %s after %d failures, want sent after none", second.state, second.Failures)
			}
			equal(t, p.Stats().DeadLetters, 1, "items that died")
		})
	}
}

// TestBackoffSpreads checks that backoffs begin with different pauses, so that chats do not all
// retry at the same time after an outage.
func TestBackoffSpreads(t *testing.T) {
	t.Parallel()
	const chats = 200
	waits := make(map[time.Duration]bool)
	for range chats {
		wait, _ := newBackoff().Next()
		checkBetween(t, "the first wait", wait, 350*time.Millisecond, 650*time.Millisecond)
		waits[wait.Round(time.Millisecond)] = true
	}
	if len(waits) < chats/10 {
		t.Errorf("%d chats retry at %d different times", chats, len(waits))
	}
}
