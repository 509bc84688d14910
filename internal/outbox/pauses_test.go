package outbox

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// rounding is the tolerance for pauses that are computed in floating point.
const rounding = time.Microsecond

// TestRateLimitHoldsOneChat checks that a rate limit pauses its chat for RetryAfter, at least a
// second and with a jitter of up to 10%. It does not delay other chats.
func TestRateLimitHoldsOneChat(t *testing.T) {
	t.Parallel()
	cases := []struct{ retryAfter, least time.Duration }{
		{0, time.Second},
		{300 * time.Millisecond, time.Second},
		{-time.Second, time.Second},
		{5 * time.Second, 5 * time.Second},
		{time.Hour, time.Hour},
	}
	for _, c := range cases {
		inBubble(t, c.retryAfter.String(), func(t *testing.T) {
			const slow, quick, items = ChatID(1), ChatID(2), 60
			wellAfter := answersAfter(100 * time.Millisecond)
			store, sender := newMemory(), newMessenger(t, func(ctx context.Context, m Message) error {
				if m.Row.ID == 1 && m.Row.Attempts == 1 {
					return rateLimited(c.retryAfter)
				}
				return wellAfter(ctx, m)
			})
			store.add(slow, slow)
			store.add(repeat(quick, items)...)
			begun := time.Now()
			dispatch(t, store, sender, Settings{Parallel: 2})
			advance(t, 2*c.least)
			advance(t, 10*time.Second)
			to := sender.to(slow)
			if diff := cmp.Diff([]int64{1, 1, 2}, sender.ids(slow)); diff != "" {
				t.Fatalf("requests (-want +got):\n%s", diff)
			}
			checkBetween(t, "pause", to[1].begun.Sub(to[0].begun), c.least, c.least+c.least/10+rounding)
			for i, r := range sender.to(quick) {
				if want := time.Duration(i) * 100 * time.Millisecond; r.begun.Sub(begun) != want {
					t.Fatalf("request %d for the other chat after %v, want %v", i, r.begun.Sub(begun), want)
				}
			}
			equal(t, store.count(rowSent), items+2, "items sent")
		})
	}
}

// TestRateLimitSpreads checks that chats that were rate limited at the same time resume at
// different times.
func TestRateLimitSpreads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const chats, retryAfter = 300, 10 * time.Second
		store, sender := newMemory(), newMessenger(t, func(_ context.Context, m Message) error {
			if m.Row.Attempts == 1 {
				return rateLimited(retryAfter)
			}
			return nil
		})
		for c := range ChatID(chats) {
			store.add(c)
		}
		begun := time.Now()
		dispatch(t, store, sender, Settings{Parallel: chats})
		advance(t, time.Minute)
		moments := make(map[time.Duration]bool)
		for c := range ChatID(chats) {
			to := sender.to(c)
			if len(to) != 2 {
				t.Fatalf("%d requests for chat %d, want 2", len(to), c)
			}
			pause := to[1].begun.Sub(begun)
			checkBetween(t, "pause", pause, retryAfter, retryAfter+retryAfter/10+rounding)
			moments[pause] = true
		}
		if len(moments) < 10 { // chats whose pause ends while the circuit is open resume together
			t.Errorf("%d chats resume at %d different times", chats, len(moments))
		}
	})
}

// TestPausedChatIsLeftAlone checks that a wake does not make the dispatcher ask the store about a
// paused chat.
func TestPausedChatIsLeftAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sender := newMemory(), newMessenger(t, scripted(map[int64][]error{
			1: {rateLimited(time.Minute), failure(Unreachable)},
		}))
		var taken atomic.Int32
		store.onAdvance = func(_ context.Context, _ []Result, lanes []Lane) error {
			taken.Add(int32(len(lanes)))
			return nil
		}
		store.add(1)
		p := dispatch(t, store, sender, noPolls)
		for range 10 {
			advance(t, 10*time.Second)
			p.Wake(1)
		}
		synctest.Wait()
		// Three takes made requests. Four wakes came after the item was sent and found nothing.
		if sent, n := store.count(rowSent), taken.Load(); sent != 1 || n != 3+4 {
			t.Errorf("%d items are sent, %d lanes were taken, want 1 and 7", sent, n)
		}
	})
}

// TestPauseEndedByAnotherInstance checks that, if another instance ends the pause of a chat, the
// chat resumes at the next poll. If another instance starts a pause, this instance heeds it.
func TestPauseEndedByAnotherInstance(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sender := newMemory(), newMessenger(t, scripted(map[int64][]error{
			1: {rateLimited(time.Hour)}, 2: {rateLimited(time.Hour)},
		}))
		store.add(1, 2)
		p := dispatch(t, store, sender, Settings{})
		advance(t, time.Minute+time.Millisecond)
		store.thaw(1)
		advance(t, time.Second)
		equal(t, [][]int64{sender.ids(1), sender.ids(2)}, [][]int64{{1, 1}, {2}}, "requests")
		store.freeze(3, time.Hour) // another instance starts a pause
		store.add(3)
		p.Wake(3)
		advance(t, time.Minute)
		if len(sender.to(3)) != 0 {
			t.Error("a request for a frozen chat")
		}
		store.thaw(3)
		advance(t, time.Second)
		if len(sender.to(3)) != 1 {
			t.Error("no request for the chat after its pause")
		}
	})
}

func TestForbiddenParksChat(t *testing.T) {
	t.Parallel()
	for _, woken := range []bool{true, false} {
		inBubble(t, fmt.Sprintf("woken %t", woken), func(t *testing.T) {
			const chat = ChatID(5)
			store, sender := newMemory(), newMessenger(t, scripted(map[int64][]error{2: {failure(Forbidden)}}))
			store.add(chat, chat, chat, 6)
			p, tm := dispatchTerm(t, store, sender, Settings{})
			for range 60 {
				advance(t, time.Minute)
				p.Wake(chat)
			}
			synctest.Wait()
			equal(t, sender.ids(chat), []int64{1, 2}, "requests while parked")
			tm.checkEmpty(t)
			advance(t, 300*time.Millisecond) // between polls
			store.unpark(chat)
			if woken {
				p.Wake(chat)
			} else {
				advance(t, time.Second)
			}
			synctest.Wait()
			equal(t, sender.ids(chat), []int64{1, 2, 2, 3}, "requests in the end")
			equal(t, store.count(rowSent), 4, "items sent")
		})
	}
}

// TestFinalFailuresDoNotDelay checks that, after a dead letter or an obsolete item, the lane
// continues at once, with and without merging.
func TestFinalFailuresDoNotDelay(t *testing.T) {
	t.Parallel()
	for kind, end := range map[FailureKind]rowState{Rejected: rowDead, Obsolete: rowExpired} {
		for _, merge := range []int{1, 64} {
			inBubble(t, fmt.Sprint(kind, merge), func(t *testing.T) {
				const chat, items = ChatID(5), 30
				store, sender := newMemory(), newMessenger(t, func(_ context.Context, m Message) error {
					if m.Row.ID < items {
						return &Failure{Kind: kind, Err: errors.New("can't parse entities")}
					}
					return nil
				})
				store.add(repeat(chat, items)...)
				begun := time.Now()
				dispatch(t, store, sender, Settings{PollEvery: noPolls.PollEvery, Bounds: Bounds{Merge: merge}})
				synctest.Wait()
				if time.Since(begun) != 0 || store.count(end) != items-1 || store.count(rowSent) != 1 {
					t.Errorf("after %v %d ended, %d sent", time.Since(begun), store.count(end), store.count(rowSent))
				}
				if r := store.row(1); r.lastError != "can't parse entities" {
					t.Errorf("the error of the first item is %q", r.lastError)
				}
			})
		}
	}
}

// TestFrozenChatsAreNotKept checks that chats that are frozen when the dispatcher starts are not
// kept in memory. A poll finds them when the pause is over.
func TestFrozenChatsAreNotKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const chats = 20
		store, sender := newMemory(), newMessenger(t, nil)
		for c := range ChatID(chats) {
			store.add(c)
			store.freeze(c, time.Hour)
		}
		_, tm := dispatchTerm(t, store, sender, Settings{})
		advance(t, time.Minute)
		tm.checkEmpty(t)
		advance(t, time.Hour)
		equal(t, store.open(), 0, "open items")
	})
}
