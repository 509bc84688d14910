package outbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Whatever happens to an item, the next one waits until it is done.
func TestOrderInChat(t *testing.T) {
	t.Parallel()
	const chat, items = ChatID(7), 12
	errsFor := func(err error) map[int64][]error {
		return map[int64][]error{1: {err}, 4: {err, err}, 5: {err}, items: {err, err}}
	}
	// the requests when failed ones are repeated
	repeated := []int64{1, 1, 2, 3, 4, 4, 4, 5, 5, 6, 7, 8, 9, 10, 11, 12, 12, 12}
	cases := map[string]struct {
		errs       map[int64][]error
		requests   []int64
		ended      []int64  // without being sent
		end        rowState // of these
		duplicates int      // possible duplicates of item 4
	}{
		"success":         {nil, sequence(1, items), nil, rowSent, 0},
		"rate limited":    {errsFor(rateLimited(3 * time.Second)), repeated, nil, rowSent, 0},
		"unreachable":     {errsFor(failure(Unreachable)), repeated, nil, rowSent, 0},
		"ambiguous":       {errsFor(failure(Ambiguous)), repeated, nil, rowSent, 2},
		"unauthorized":    {errsFor(failure(Unauthorized)), repeated, nil, rowSent, 0},
		"wrapped failure": {errsFor(fmt.Errorf("send: %w", failure(Unreachable))), repeated, nil, rowSent, 0},
		"rejected":        {errsFor(failure(Rejected)), sequence(1, items), []int64{1, 4, 5, items}, rowDead, 0},
		"obsolete":        {errsFor(failure(Obsolete)), sequence(1, items), []int64{1, 4, 5, items}, rowExpired, 0},
		"another error":   {errsFor(errors.New("unknown error")), repeated, nil, rowSent, 0},
		"panic":           {errsFor(errPanic), repeated, nil, rowSent, 0},
		"migrated":        {errsFor(failure(Migrated)), repeated, nil, rowSent, 0},
	}
	for name, c := range cases {
		inBubble(t, name, func(t *testing.T) {
			store, sender := newMemory(), newMessenger(t, scripted(c.errs))
			p := dispatch(t, store, sender, Settings{})
			store.add(repeat(chat, items)...)
			p.Wake(chat)
			advance(t, 5*time.Minute)
			if diff := cmp.Diff(c.requests, sender.ids(chat)); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			for id := int64(1); id <= items; id++ {
				r := store.row(id)
				switch {
				case slices.Contains(c.ended, id):
					if r.state != c.end || r.lastError == "" {
						t.Errorf("item %d is %s with error %q, want %s", id, r.state, r.lastError, c.end)
					}
				case r.state != rowSent || r.messageID != messageID(id):
					t.Errorf("item %d is %s as message %d, want sent", id, r.state, r.messageID)
				}
			}
			if got := store.row(4).PossibleDuplicates; got != c.duplicates {
				t.Errorf("%d possible duplicates, want %d", got, c.duplicates)
			}
		})
	}
}

func TestOrderWhenStoreFails(t *testing.T) {
	t.Parallel()
	const chat, items = ChatID(1), 40
	for _, rate := range []int{2, 3, 5, -2, -3, -5} {
		lost := rate < 0 // everything is persisted, but the answer is lost
		inBubble(t, fmt.Sprintf("every %d", rate), func(t *testing.T) {
			store, sender := newMemory(), newMessenger(t, nil)
			calls := 0
			sometimes := func() error {
				if calls++; calls%rate == 0 {
					return errUnavailable
				}
				return nil
			}
			if lost {
				store.afterAdvance = func([]Turn) error { return sometimes() }
			} else {
				store.onAdvance = func(context.Context, []Result, []Lane) error { return sometimes() }
			}
			store.add(repeat(chat, items)...)
			dispatch(t, store, sender, Settings{})
			advance(t, 5*time.Minute)
			if diff := cmp.Diff(sequence(1, items), sender.ids(chat)); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			if n := store.count(rowSent); n != items {
				t.Errorf("%d items are sent, want %d", n, items)
			}
		})
	}
}

// Requests for a chat never overlap; the fake messenger checks that.
func TestOneRequestInChat(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const chats, items = 10, 20
		store, sender := newMemory(), newMessenger(t, answersAfter(100*time.Millisecond))
		p := dispatch(t, store, sender, Settings{})
		begun := time.Now()
		for range items {
			for c := range ChatID(chats) {
				store.add(c)
				p.Wake(c, c)
			}
			advance(t, 30*time.Millisecond)
			p.Wake(0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
		}
		advance(t, time.Until(begun.Add(items*100*time.Millisecond)))
		synctest.Wait()
		for c := range ChatID(chats) {
			for i, r := range sender.to(c) {
				if want := begun.Add(time.Duration(i) * 100 * time.Millisecond); !r.begun.Equal(want) {
					t.Fatalf("request %d for chat %d after %v, want %v", i, c, r.begun.Sub(begun), want.Sub(begun))
				}
			}
		}
		if n := store.count(rowSent); n != chats*items {
			t.Errorf("%d items are sent, want %d", n, chats*items)
		}
	})
}

func TestParallelBoundsRequests(t *testing.T) {
	t.Parallel()
	for parallel, settings := range map[int]Settings{1: {Parallel: 1}, 8: {Parallel: 8}, 32: {}} {
		inBubble(t, fmt.Sprint(parallel), func(t *testing.T) {
			const chats = 100
			store, sender := newMemory(), newMessenger(t, answersAfter(time.Second))
			for c := range ChatID(chats) {
				store.add(c)
			}
			dispatch(t, store, sender, settings)
			rounds := (chats + parallel - 1) / parallel
			advance(t, time.Duration(rounds)*time.Second-1)
			if store.open() == 0 {
				t.Error("all is sent too early")
			}
			advance(t, 1)
			synctest.Wait()
			if n := store.open(); n != 0 {
				t.Errorf("after %d rounds %d items are still to be sent", rounds, n)
			}
			if sender.maxInFlight != parallel {
				t.Errorf("%d requests at the same time, want %d", sender.maxInFlight, parallel)
			}
		})
	}
}

// Chats with many items do not delay others, however long their items have waited.
func TestChatsTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sender := newMemory(), newMessenger(t, answersAfter(time.Second))
		for range 50 {
			store.add(1, 2, 3)
		}
		p := dispatch(t, store, sender, Settings{Parallel: 1})
		advance(t, 5*time.Second+time.Millisecond)
		id := store.add(4)
		p.Wake(4)
		advance(t, 4*time.Second) // one is in flight, and two have waited longer for their turn
		if r := store.row(id); r.state != rowSent {
			t.Errorf("the other chat's item is %s, want sent", r.state)
		}
	})
}

// The outcome of items that are marked as sending at the start is unknown.
func TestItemsFoundSending(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sender := newMemory(), newMessenger(t, nil)
		store.add(1, 1, 1, 2, 2)
		for _, id := range []int64{1, 4} {
			r := store.rows[id-1]
			r.state, r.batch, r.Attempts = rowSending, id, 1
		}
		dispatch(t, store, sender, Settings{})
		synctest.Wait()
		if diff := cmp.Diff([][]int64{{1, 2, 3}, {4, 5}}, [][]int64{sender.ids(1), sender.ids(2)}); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
		for id := int64(1); id <= 5; id++ {
			want := 0
			if id == 1 || id == 4 {
				want = 1
			}
			if r := store.row(id); r.state != rowSent || r.PossibleDuplicates != want || r.Attempts != want+1 {
				t.Errorf("item %d is %s, %d attempts, %d possible duplicates; want %d", id, r.state, r.Attempts, r.PossibleDuplicates, want)
			}
		}
	})
}

func TestFailureError(t *testing.T) {
	t.Parallel()
	cause := errors.New("too fast")
	f := &Failure{Class: RateLimited, Err: cause}
	if f.Error() != "rate_limited: too fast" || !errors.Is(f, cause) {
		t.Errorf("Error() = %q, wraps its cause: %t", f, errors.Is(f, cause))
	}
}
