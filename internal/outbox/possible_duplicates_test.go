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
)

// stat returns the value of the field of Stats with the given JSON name.
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

// keptLease returns a lease of 10 s that is renewed every 3 s until the test ends.
func keptLease(t *testing.T) Lease {
	t.Helper()
	const lasts, renewed = 10 * time.Second, 3 * time.Second
	lease := &limitedLease{until: time.Now().Add(lasts)}
	stopped := make(chan struct{})
	t.Cleanup(func() { close(stopped) })
	go func() {
		tick := time.NewTicker(renewed)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				lease.renew(lasts)
			case <-stopped:
				return
			}
		}
	}()
	return lease
}

// TestLateAnswersCauseFewDuplicates checks that, while the messenger answers after the timeout of a
// first request, but within the longer timeout of a repeated request, each message is sent at most
// twice.
func TestLateAnswersCauseFewDuplicates(t *testing.T) {
	t.Parallel()
	for _, chats := range []int{1, 2, 40} {
		inBubble(t, fmt.Sprint(chats), func(t *testing.T) {
			const each, late = 3, 5 * time.Minute
			healed := time.Now().Add(late)
			store, sender := newMemory(), newMessenger(t, func(ctx context.Context, m Message) error {
				if time.Now().Before(healed) {
					return answersAfter(7*time.Second)(ctx, m)
				}
				return nil
			})
			for c := range chats {
				store.add(repeat(ChatID(c), each)...)
			}
			dispatchWith(t, store, sender, Settings{Parallel: 8, Bounds: Bounds{Merge: 1}}, keptLease(t))
			advance(t, late+time.Minute)
			equal(t, store.count(rowSent), chats*each, "items sent")
			copies := make(map[int64]int)
			for _, r := range sender.all() {
				if copies[r.message.Row.ID]++; copies[r.message.Row.ID] > 2 {
					t.Errorf("item %d is sent %d times", r.message.Row.ID, copies[r.message.Row.ID])
				}
			}
		})
	}
}

// TestSwallowedMessagesAreDelivered checks that, if the messenger answers no request for a minute,
// all messages are delivered within the next three minutes.
func TestSwallowedMessagesAreDelivered(t *testing.T) {
	t.Parallel()
	for _, chats := range []int{1, 2, 40} {
		inBubble(t, fmt.Sprint(chats), func(t *testing.T) {
			const each, swallows = 3, time.Minute
			healed := time.Now().Add(swallows)
			store, sender := newMemory(), newMessenger(t, func(ctx context.Context, _ Message) error {
				if time.Now().Before(healed) {
					return &Failure{Kind: Ambiguous, Err: hang(ctx)}
				}
				return nil
			})
			for c := range chats {
				store.add(repeat(ChatID(c), each)...)
			}
			dispatchWith(t, store, sender, Settings{Parallel: 8, Bounds: Bounds{Merge: 1}}, keptLease(t))
			advance(t, swallows+3*time.Minute)
			delivered := make(map[int64]bool)
			for _, r := range sender.all() {
				if r.err == nil {
					delivered[r.message.Row.ID] = true
				}
			}
			if n := store.count(rowSent); n != chats*each || len(delivered) != chats*each {
				t.Errorf("of %d items, %d are sent and %d have arrived", chats*each, n, len(delivered))
			}
		})
	}
}

// TestPossibleDuplicatesAreLimited checks that, after five requests with an unknown outcome, the
// dispatcher gives up on a message, and the lane continues. The pauses between these requests grow
// to a quarter of an hour.
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
			store.add(1) // not merged into the message that is being repeated
			advance(t, time.Hour)
			to := sender.to(1)
			if len(to) < maxCopies+1 {
				t.Fatalf("%d requests, want at least 6", len(to))
			}
			together := []int64{1, 2}[:min(merge, 2)]
			for i, pause := range []time.Duration{time.Second, 10 * time.Second, 100 * time.Second, 15 * time.Minute} {
				checkBetween(t, fmt.Sprint("pause ", i+1), to[i+1].begun.Sub(to[i].begun),
					pause*7/10-rounding, min(pause*13/10, 15*time.Minute)+rounding)
			}
			for i, r := range to[:maxCopies] {
				equal(t, r.ids, together, "request %d", i+1)
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
			equal(t, len(lines), 1, "lines in the log")
		})
	}
}

// addOrphan adds a row with the given number of requests whose outcome is unknown. The row is still
// marked as sending, as after the death of a process.
func (m *memory) addOrphan(chat ChatID, copies int) {
	m.add(chat)
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.rows[len(m.rows)-1]
	r.state, r.batch, r.Attempts, r.PossibleDuplicates = rowSending, r.ID, copies, copies-1
	for range copies {
		m.begin(r.lane())
	}
}

// TestRepeatedRequestFitsTheLease checks that a repeated request, which has a longer timeout,
// begins only once the lease lasts long enough for it. Until then, a first request in another lane
// may begin.
func TestRepeatedRequestFitsTheLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newMemory()
		sender := newMessenger(t, func(ctx context.Context, m Message) error {
			if m.Row.ID == 1 && m.Row.Attempts == 1 {
				return failure(Ambiguous)
			}
			return answersAfter(7*time.Second)(ctx, m)
		})
		store.add(1)
		lease := &limitedLease{until: time.Now().Add(9 * time.Second)}
		p := dispatchWith(t, store, sender, Settings{Bounds: Bounds{Merge: 1}}, lease)
		advance(t, 2*time.Second) // the pause is over
		store.add(2)
		p.Wake(2)
		synctest.Wait()
		if one, two := len(sender.to(1)), len(sender.to(2)); one != 1 || two != 1 {
			t.Fatalf("%d requests to the first chat and %d to the second, want one each", one, two)
		}
		lease.renew(10 * time.Second)
		advance(t, leasePoll)
		if n := len(sender.to(1)); n != 2 {
			t.Fatalf("%d requests with a new lease, want 2", n)
		}
		advance(t, 7*time.Second)
		if r := store.row(1); r.state != rowSent || r.PossibleDuplicates != 1 {
			t.Errorf("the item is %s, with %d possible duplicates", r.state, r.PossibleDuplicates)
		}
	})
}

// TestStopWaitsForRepeatedRequest checks that a stop waits for the longer timeout of a repeated
// request, so that the request need not be repeated again.
func TestStopWaitsForRepeatedRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sender := newMemory(), newMessenger(t, answersAfter(7500*time.Millisecond))
		store.addOrphan(1, 1)
		p := dispatchWith(t, store, sender, Settings{}, keptLease(t))
		synctest.Wait()
		checkBetween(t, "stopping", p.stop(), 7500*time.Millisecond, 7500*time.Millisecond)
		if r := store.row(1); len(sender.all()) != 1 || r.state != rowSent {
			t.Errorf("after %d requests, the item is %s", len(sender.all()), r.state)
		}
	})
}

// TestCallbackAnswersRetrySoon checks that, after an unknown outcome, a callback answer is retried
// within seconds and with the usual timeout, because it is useful only for seconds.
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
		equal(t, to[3].ended.Sub(to[3].begun), 5*time.Second, "time of the last one")
	})
}

// TestEditsAreRepeatedUntilTheyArrive checks that an edit is repeated until a request succeeds,
// because repeating it creates no duplicate. The pauses grow to 15 minutes, and a repeated request
// has the longer timeout.
func TestEditsAreRepeatedUntilTheyArrive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const outcomes = 20
		store := newMemory()
		sender := newMessenger(t, func(ctx context.Context, m Message) error {
			if m.Row.Attempts <= outcomes {
				return failure(Ambiguous)
			}
			return answersAfter(7*time.Second)(ctx, m)
		})
		store.put(row{chat: 1, action: Edit, target: 7})
		p := dispatch(t, store, sender, Settings{})
		advance(t, outcomes*20*time.Minute)
		to := sender.to(1)
		if r := store.row(1); r.state != rowSent || len(to) != outcomes+1 {
			t.Fatalf("the edit is %s after %d requests", r.state, len(to))
		}
		for i := 4; i < outcomes; i++ {
			checkBetween(t, fmt.Sprint("pause ", i+1), to[i+1].begun.Sub(to[i].begun),
				15*time.Minute*7/10-rounding, 15*time.Minute+rounding)
		}
		if n := stat(t, p, "possible_duplicates"); n != float64(outcomes) {
			t.Errorf("%v possible duplicates, want %d", n, outcomes)
		}
	})
}
