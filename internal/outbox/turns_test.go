package outbox

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

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
			equal(t, store.open(), 0, "open items after %d rounds", rounds)
			equal(t, sender.maxInFlight, parallel, "requests at the same time")
		})
	}
}

// TestChatsTakeTurns checks that a chat with many items gets one turn at a time. A new item in
// another chat waits only for the lanes that have waited longer since their last turn.
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
		advance(t, 4*time.Second) // one request is in flight, and two lanes have waited longer
		if r := store.row(id); r.state != rowSent {
			t.Errorf("the other chat's item is %s, want sent", r.state)
		}
	})
}

func TestFailureError(t *testing.T) {
	t.Parallel()
	cause := errors.New("too fast")
	f := &Failure{Kind: RateLimited, Err: cause}
	if f.Error() != "rate_limited: too fast" || !errors.Is(f, cause) {
		t.Errorf("Error() = %q, wraps its cause: %t", f, errors.Is(f, cause))
	}
}
