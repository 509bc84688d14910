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

// figure returns a figure as it is shown.
func figure(t *testing.T, p *process, name string) any {
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

// A messenger that takes all messages and says so too late gets each of them twice at the most.
func TestLateAnswersMakeFewCopies(t *testing.T) {
	t.Parallel()
	for _, chats := range []int{1, 2, 40} {
		t.Run(fmt.Sprint(chats), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const each, late, timeout = 3, 6 * time.Second, 5 * time.Second
				store, sender := newMemory(), newMessenger(t, takes(late))
				for c := range chats {
					store.add(repeat(ChatID(c), each)...)
				}
				p := dispatch(t, store, sender, Settings{Parallel: 8})
				after(t, time.Duration(chats*each)*(timeout+late)+time.Minute)
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
						t.Error("two requests at a time take longer")
					}
					longUntil = r.ended
				}
				p.stop()
			})
		})
	}
}

// After five copies of a message it ends, and the lane goes on. The pauses between them grow to a quarter of an hour.
func TestCopiesEnd(t *testing.T) {
	t.Parallel()
	for _, merge := range []int{1, 64} {
		t.Run(fmt.Sprint(merge), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const most = 5
				store, book := newMemory(), newLogbook()
				sender := newMessenger(t, inTurn(map[int64][]error{1: slices.Repeat([]error{fail(Ambiguous)}, 100)}))
				store.add(1, 1)
				settings := Settings{Bounds: Bounds{Merge: merge}}
				p := run(t, NewDispatcher(store, sender, slog.New(book), settings), hold(1))
				after(t, time.Minute)
				store.add(1) // another message, whatever is told together
				after(t, time.Hour)
				to := sender.to(1)
				if len(to) < most+1 {
					t.Fatalf("%d requests, want at least 6", len(to))
				}
				together := []int64{1, 2}[:min(merge, 2)]
				for i, pause := range []time.Duration{time.Second, 10 * time.Second, 100 * time.Second, 15 * time.Minute} {
					between(t, fmt.Sprint("pause ", i+1), to[i+1].begun.Sub(to[i].begun), pause*7/10-rounding, min(pause*13/10, 15*time.Minute)+rounding)
				}
				for i, r := range to[:most] {
					if diff := cmp.Diff(together, r.ids); diff != "" {
						t.Errorf("copy %d (-want +got):\n%s", i+1, diff)
					}
				}
				if next := int64(len(together) + 1); to[most].ids[0] != next || to[most].begun != to[most-1].ended {
					t.Errorf("then %v is sent after %v", to[most].ids, to[most].begun.Sub(to[most-1].ended))
				}
				for _, id := range together {
					if r := store.row(id); r.state != "uncertain" || r.PossibleDuplicates != most {
						t.Errorf("item %d is %s after %d copies", id, r.state, r.PossibleDuplicates)
					}
				}
				if n := figure(t, p, "uncertain"); n != float64(len(together)) {
					t.Errorf("%v items are uncertain, want %d", n, len(together))
				}
				if n := figure(t, p, "possible_duplicates"); n != float64(len(together)*(most-1)) {
					t.Errorf("%v items were sent once more", n)
				}
				lines := book.lines("too many possible duplicates, notice given up")
				if len(lines) != 1 {
					t.Errorf("the log says so %d times", len(lines))
				}
				p.stop()
			})
		})
	}
}

// orphan adds a row that was perhaps sent so often, the last time by a process that is gone.
func (m *memory) orphan(chat ChatID, copies int) {
	m.add(chat)
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.rows[len(m.rows)-1]
	r.state, r.batch, r.Attempts, r.PossibleDuplicates = rowSending, r.ID, copies, copies-1
}

// Copies that processes have made which are gone count as others do.
func TestCopiesOfCrashesCount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sender := newMemory(), newMessenger(t, nil)
		store.orphan(4, 4)
		store.orphan(5, 5)
		p := dispatch(t, store, sender, Settings{})
		after(t, time.Minute)
		if n := len(sender.to(4)); n != 1 || store.row(1).state != rowSent {
			t.Errorf("%d requests for the fifth copy, it is %s", n, store.row(1).state)
		}
		if n := len(sender.to(5)); n != 0 || store.row(2).state != "uncertain" {
			t.Errorf("%d requests for a sixth copy, it is %s", n, store.row(2).state)
		}
		p.stop()
	})
}

// The next dispatcher keeps the pause.
func TestPauseOfCopiesOutlivesDispatcher(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newMemory()
		sender := newMessenger(t, inTurn(map[int64][]error{1: slices.Repeat([]error{fail(Ambiguous)}, 3)}))
		store.add(1)
		// The third request comes within 14.3 s, the fourth not before 77.7 s.
		for range 5 {
			p := dispatch(t, store, sender, Settings{})
			p.Wake(1)
			after(t, 15*time.Second)
			p.stop()
		}
		if n := len(sender.to(1)); n != 3 {
			t.Errorf("%d requests within 75 s, want 3", n)
		}
		p := dispatch(t, store, sender, Settings{})
		after(t, 2*time.Minute)
		if n := len(sender.to(1)); n != 4 {
			t.Errorf("%d requests in the end, want 4", n)
		}
		p.stop()
	})
}

// A request that may take longer is cut off before anybody else can have the lease, unless that is renewed.
func TestLongRequestEndsBeforeTheLease(t *testing.T) {
	t.Parallel()
	for _, renewed := range []bool{false, true} {
		t.Run(fmt.Sprint("renewed ", renewed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const lasts = 8 * time.Second // the lease
				store, sender := newMemory(), newMessenger(t, takes(9*time.Second))
				store.orphan(1, 1)
				lease := &limitedLease{until: time.Now().Add(lasts)}
				p := dispatchWith(t, store, sender, Settings{Bounds: Bounds{Merge: 1}}, lease)
				after(t, 3*time.Second)
				if renewed {
					lease.renew(lasts)
				}
				after(t, 17*time.Second)
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
				p.stop()
			})
		})
	}
}

// The answer to a button is of use for seconds only: it is tried again soon, and does not take longer.
func TestToastsMakeNoPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newMemory()
		sender := newMessenger(t, func(ctx context.Context, m Message) error {
			if m.Row.Attempts < 4 {
				return fail(Ambiguous)
			}
			return takes(time.Minute)(ctx, m)
		})
		store.put(row{chat: 1, action: CallbackAnswer, expires: time.Now().Add(15 * time.Second)})
		p := dispatch(t, store, sender, Settings{})
		after(t, time.Minute)
		to := sender.to(1)
		if len(to) < 4 || to[3].begun.Sub(to[0].begun) > 4*time.Second+550*time.Millisecond+rounding {
			t.Fatalf("%d requests, want the fourth within 5 s", len(to))
		}
		if took := to[3].ended.Sub(to[3].begun); took != 5*time.Second {
			t.Errorf("the last one takes %v, want 5s", took)
		}
		p.stop()
	})
}

// What was never tried is not told with what was perhaps sent, and not given up with it.
func TestNewcomersAreNotGivenUpWithCopies(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newMemory()
		fates := append(slices.Repeat([]error{fail(Ambiguous)}, 4), fail(Unreachable), fail(Ambiguous))
		sender := newMessenger(t, inTurn(map[int64][]error{1: fates}))
		store.add(1)
		p := dispatch(t, store, sender, Settings{Bounds: Bounds{Merge: 64}})
		after(t, 10*time.Minute)
		store.add(1, 1)
		after(t, time.Hour)
		if r := store.row(1); r.state != rowUncertain || r.PossibleDuplicates != 5 {
			t.Errorf("item 1 is %s after %d copies", r.state, r.PossibleDuplicates)
		}
		for id := int64(2); id <= 3; id++ {
			if r := store.row(id); r.state != rowSent || r.PossibleDuplicates != 0 {
				t.Errorf("item %d is %s after %d copies", id, r.state, r.PossibleDuplicates)
			}
		}
		p.stop()
	})
}

// Repeating an edit makes no copy: it goes on until it arrives, at the longest pause, and its requests may take long.
func TestEditsAreRepeatedUntilTheyArrive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const unknown = 70
		store := newMemory()
		sender := newMessenger(t, func(ctx context.Context, m Message) error {
			if m.Row.Attempts <= unknown {
				return fail(Ambiguous)
			}
			return takes(25*time.Second)(ctx, m)
		})
		store.put(row{chat: 1, action: Edit, target: 7})
		p := dispatch(t, store, sender, Settings{})
		after(t, unknown*20*time.Minute)
		to := sender.to(1)
		if r := store.row(1); r.state != rowSent || len(to) != unknown+1 {
			t.Fatalf("the edit is %s after %d requests", r.state, len(to))
		}
		for i := 4; i < unknown; i++ {
			between(t, fmt.Sprint("pause ", i+1), to[i+1].begun.Sub(to[i].begun), 15*time.Minute*7/10-rounding, 15*time.Minute+rounding)
		}
		if n := figure(t, p, "possible_duplicates"); n != float64(unknown) {
			t.Errorf("%v edits were sent once more, want %d", n, unknown)
		}
		p.stop()
	})
}

// A request that is cut off at once needs no more time. Lanes with such requests do not wait for one another.
func TestQuickUnknownsDoNotWaitForLongRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newMemory()
		sender := newMessenger(t, func(ctx context.Context, m Message) error {
			switch {
			case m.Lane.Chat == 1:
				return takes(19*time.Second)(ctx, m)
			case m.Row.Attempts == 1:
				return fail(Ambiguous)
			default:
				return nil
			}
		})
		store.orphan(1, 2)
		p := dispatch(t, store, sender, Settings{})
		after(t, time.Second)
		store.add(2, 3)
		p.Wake(2, 3)
		after(t, 3*time.Second)
		for c := ChatID(2); c <= 3; c++ {
			if n := len(sender.to(c)); n != 2 {
				t.Errorf("%d requests to chat %d while a long one is under way, want 2", n, c)
			}
		}
		p.stop()
	})
}
