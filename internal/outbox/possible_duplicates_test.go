package outbox

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// stat returns a value of Stats by its JSON name.
func stat(t *testing.T, p *process, name string) any {
	t.Helper()
	text, err := json.Marshal(p.Stats())
	if err != nil {
		t.Fatal(err)
	}
	var f map[string]any
	if err := json.Unmarshal(text, &f); err != nil {
		t.Fatal(err)
	}
	return f[name]
}

// If the messenger accepts all messages but answers too late, it gets each of them at most twice.
func TestLateAnswersCauseFewDuplicates(t *testing.T) {
	t.Parallel()
	for _, chats := range []int{1, 2, 40} {
		inBubble(t, fmt.Sprint(chats), func(t *testing.T) {
			const each, delay, timeout = 3, 6 * time.Second, 5 * time.Second
			store, sender := newMemory(), newMessenger(t, answersAfter(delay))
			for c := range chats {
				store.add(repeat(ChatID(c), each)...)
			}
			dispatch(t, store, sender, Settings{Parallel: 8})
			advance(t, time.Duration(chats*each)*(timeout+delay)+time.Minute)
			if n := store.count(rowSent); n != chats*each {
				t.Errorf("%d of %d are sent", n, chats*each)
			}
			copies, longUntil := make(map[int64]int), time.Time{}
			for _, r := range sender.all() {
				if copies[r.message.Row.ID]++; copies[r.message.Row.ID] == 3 {
					t.Errorf("item %d is sent for the third time", r.message.Row.ID)
				}
				if r.ended.Sub(r.begun) <= timeout {
					continue
				}
				if r.begun.Before(longUntil) {
					t.Error("two requests exceed the usual timeout at the same time")
				}
				longUntil = r.ended
			}
		})
	}
}

// After five possible duplicates a message is given up and the lane continues. The pauses in between grow to a quarter
// of an hour.
func TestPossibleDuplicatesAreLimited(t *testing.T) {
	t.Parallel()
	for _, merge := range []int{1, 64} {
		inBubble(t, fmt.Sprint(merge), func(t *testing.T) {
			const maxCopies = 5
			store, book := newMemory(), newLogbook()
			sender := newMessenger(t, scripted(map[int64][]error{1: slices.Repeat([]error{failure(Ambiguous)}, 100)}))
			store.add(1, 1)
			settings := Settings{Bounds: Bounds{Merge: merge}}
			p := run(t, NewDispatcher(store, sender, slog.New(book), settings), newLease(1))
			advance(t, time.Minute)
			store.add(1) // a message of its own, even when merging
			advance(t, time.Hour)
			to := sender.to(1)
			if len(to) < maxCopies+1 {
				t.Fatalf("%d requests, want at least 6", len(to))
			}
			together := []int64{1, 2}[:min(merge, 2)]
			for i, pause := range []time.Duration{time.Second, 10 * time.Second, 100 * time.Second, 15 * time.Minute} {
				checkBetween(t, fmt.Sprint("pause ", i+1), to[i+1].begun.Sub(to[i].begun), pause*7/10-rounding, min(pause*13/10, 15*time.Minute)+rounding)
			}
			for i, r := range to[:maxCopies] {
				if diff := cmp.Diff(together, r.ids); diff != "" {
					t.Errorf("request %d (-want +got):\n%s", i+1, diff)
				}
			}
			if next := int64(len(together) + 1); to[maxCopies].ids[0] != next || to[maxCopies].begun != to[maxCopies-1].ended {
				t.Errorf("next request: %v after %v", to[maxCopies].ids, to[maxCopies].begun.Sub(to[maxCopies-1].ended))
			}
			for _, id := range together {
				if r := store.row(id); r.state != "uncertain" || r.PossibleDuplicates != maxCopies {
					t.Errorf("item %d is %s after %d possible duplicates", id, r.state, r.PossibleDuplicates)
				}
			}
			if n := stat(t, p, "uncertain"); n != float64(len(together)) {
				t.Errorf("%v items are uncertain, want %d", n, len(together))
			}
			if n := stat(t, p, "possible_duplicates"); n != float64(len(together)*(maxCopies-1)) {
				t.Errorf("%v possible duplicates", n)
			}
			lines := book.lines("too many possible duplicates, notice given up")
			if len(lines) != 1 {
				t.Errorf("%d lines in the log, want 1", len(lines))
			}
		})
	}
}

// addOrphan adds a row with this many requests of unknown outcome, the last one made by a process that has died.
func (m *memory) addOrphan(chat ChatID, copies int) {
	m.add(chat)
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.rows[len(m.rows)-1]
	r.state, r.batch, r.Attempts, r.PossibleDuplicates = rowSending, r.ID, copies, copies-1
}

// Possible duplicates by processes that have died count like others.
func TestDuplicatesAcrossCrashesCount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sender := newMemory(), newMessenger(t, nil)
		store.addOrphan(4, 4)
		store.addOrphan(5, 5)
		dispatch(t, store, sender, Settings{})
		advance(t, time.Minute)
		if n := len(sender.to(4)); n != 1 || store.row(1).state != rowSent {
			t.Errorf("%d fifth requests, the item is %s", n, store.row(1).state)
		}
		if n := len(sender.to(5)); n != 0 || store.row(2).state != "uncertain" {
			t.Errorf("%d sixth requests, the item is %s", n, store.row(2).state)
		}
	})
}

// The next dispatcher keeps the pause.
func TestAmbiguousPauseOutlivesDispatcher(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newMemory()
		sender := newMessenger(t, scripted(map[int64][]error{1: slices.Repeat([]error{failure(Ambiguous)}, 3)}))
		store.add(1)
		// The third request comes within 14.3 s, the fourth not before 77.7 s.
		for range 5 {
			p := dispatch(t, store, sender, Settings{})
			p.Wake(1)
			advance(t, 15*time.Second)
			p.stop()
		}
		if n := len(sender.to(1)); n != 3 {
			t.Errorf("%d requests within 75 s, want 3", n)
		}
		dispatch(t, store, sender, Settings{})
		advance(t, 2*time.Minute)
		if n := len(sender.to(1)); n != 4 {
			t.Errorf("%d requests in the end, want 4", n)
		}
	})
}

// A request with a longer timeout is cancelled before another instance can take the lease, unless the lease is renewed.
func TestLongRequestEndsBeforeTheLease(t *testing.T) {
	t.Parallel()
	for _, renewed := range []bool{false, true} {
		inBubble(t, fmt.Sprint("renewed ", renewed), func(t *testing.T) {
			const lasts = 8 * time.Second // the lease
			store, sender := newMemory(), newMessenger(t, answersAfter(9*time.Second))
			store.addOrphan(1, 1)
			lease := &limitedLease{until: time.Now().Add(lasts)}
			dispatchWith(t, store, sender, Settings{Bounds: Bounds{Merge: 1}}, lease)
			advance(t, 3*time.Second)
			if renewed {
				lease.renew(lasts)
			}
			advance(t, 17*time.Second)
			to := sender.to(1)
			if len(to) != 1 {
				t.Fatalf("%d requests, want 1", len(to))
			}
			want, state := lasts-time.Second, rowSending
			if renewed {
				want, state = 9*time.Second, rowSent
			}
			if got := to[0].ended.Sub(to[0].begun); got != want || store.row(1).state != state {
				t.Errorf("the request takes %v, want %v, then the item is %s", got, want, store.row(1).state)
			}
		})
	}
}

// The answer to a button is useful only for seconds: it is retried soon, with the usual timeout.
func TestCallbackAnswersRetrySoon(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newMemory()
		sender := newMessenger(t, func(ctx context.Context, m Message) error {
			if m.Row.Attempts < 4 {
				return failure(Ambiguous)
			}
			return answersAfter(time.Minute)(ctx, m)
		})
		store.put(row{chat: 1, action: CallbackAnswer, expires: time.Now().Add(15 * time.Second)})
		dispatch(t, store, sender, Settings{})
		advance(t, time.Minute)
		to := sender.to(1)
		if len(to) < 4 || to[3].begun.Sub(to[0].begun) > 4*time.Second+550*time.Millisecond+rounding {
			t.Fatalf("%d requests, want the fourth within 5 s", len(to))
		}
		if took := to[3].ended.Sub(to[3].begun); took != 5*time.Second {
			t.Errorf("the last one takes %v, want 5s", took)
		}
	})
}

// An item that was never sent is not merged with possible duplicates, and not given up with them.
func TestNewItemsAreNotGivenUpWithDuplicates(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newMemory()
		errs := append(slices.Repeat([]error{failure(Ambiguous)}, 4), failure(Unreachable), failure(Ambiguous))
		sender := newMessenger(t, scripted(map[int64][]error{1: errs}))
		store.add(1)
		dispatch(t, store, sender, Settings{Bounds: Bounds{Merge: 64}})
		advance(t, 10*time.Minute)
		store.add(1, 1)
		advance(t, time.Hour)
		if r := store.row(1); r.state != rowUncertain || r.PossibleDuplicates != 5 {
			t.Errorf("item 1 is %s after %d possible duplicates", r.state, r.PossibleDuplicates)
		}
		for id := int64(2); id <= 3; id++ {
			if r := store.row(id); r.state != rowSent || r.PossibleDuplicates != 0 {
				t.Errorf("item %d is %s after %d possible duplicates", id, r.state, r.PossibleDuplicates)
			}
		}
	})
}

// Repeated edits create no duplicates: they go on until one succeeds, at the longest pause and with longer timeouts.
func TestEditsAreRepeatedUntilTheyArrive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const outcomes = 70
		store := newMemory()
		sender := newMessenger(t, func(ctx context.Context, m Message) error {
			if m.Row.Attempts <= outcomes {
				return failure(Ambiguous)
			}
			return answersAfter(25*time.Second)(ctx, m)
		})
		store.put(row{chat: 1, action: Edit, target: 7})
		p := dispatch(t, store, sender, Settings{})
		advance(t, outcomes*20*time.Minute)
		to := sender.to(1)
		if r := store.row(1); r.state != rowSent || len(to) != outcomes+1 {
			t.Fatalf("the edit is %s after %d requests", r.state, len(to))
		}
		for i := 4; i < outcomes; i++ {
			checkBetween(t, fmt.Sprint("pause ", i+1), to[i+1].begun.Sub(to[i].begun), 15*time.Minute*7/10-rounding, 15*time.Minute+rounding)
		}
		if n := stat(t, p, "possible_duplicates"); n != float64(outcomes) {
			t.Errorf("%v possible duplicates, want %d", n, outcomes)
		}
	})
}

// After an unknown outcome that came quickly, the next request needs no longer timeout. Lanes with such requests do not
// wait for one another.
func TestQuickRetriesDoNotWaitForLongRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newMemory()
		sender := newMessenger(t, func(ctx context.Context, m Message) error {
			switch {
			case m.Lane.Chat == 1:
				return answersAfter(19*time.Second)(ctx, m)
			case m.Row.Attempts == 1:
				return failure(Ambiguous)
			default:
				return nil
			}
		})
		store.addOrphan(1, 2)
		p := dispatch(t, store, sender, Settings{})
		advance(t, time.Second)
		store.add(2, 3)
		p.Wake(2, 3)
		advance(t, 3*time.Second)
		for c := ChatID(2); c <= 3; c++ {
			if n := len(sender.to(c)); n != 2 {
				t.Errorf("%d requests to chat %d while a long one is in flight, want 2", n, c)
			}
		}
	})
}
