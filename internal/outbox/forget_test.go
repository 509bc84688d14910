package outbox

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// Nothing stays in memory of chats that have nothing to send, whatever happened to their items.
func TestIdleLanesAreForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const chats = 1000
		store, sender := newMemory(), newMessenger(t, func(_ context.Context, m Message) error {
			if m.Row.Attempts > 1 {
				return nil
			}
			switch m.Row.ID % 9 {
			case 0:
				return failure(Unreachable)
			case 1:
				return rateLimited(time.Second)
			case 2:
				return failure(Rejected)
			case 3:
				return failure(Forbidden)
			case 4:
				return errPanic
			default:
				return nil
			}
		})
		p, tm := dispatchTerm(t, store, sender, Settings{})
		for c := range ChatID(chats) {
			store.add(c)
			store.addCallbackAnswers(c, 1)
			p.Wake(c, c+chats) // and chats without any items
			p.WakeCallbackAnswers(c)
			p.WakeCallbackAnswers(c + chats)
		}
		advance(t, 10*time.Minute)
		parked := 0
		for c := range ChatID(chats) {
			if store.isParked(c) {
				parked++
			}
		}
		if n := store.open(); parked == 0 || n > parked {
			t.Errorf("%d items are open, %d chats are parked", n, parked)
		}
		tm.checkEmpty(t)
	})
}

// Chats with a long pause when the dispatcher starts are not kept in memory. They are polled when the pause is over.
func TestFrozenChatsAreNotKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const chats = 200
		store, sender := newMemory(), newMessenger(t, nil)
		for c := range ChatID(chats) {
			store.add(c)
			store.freeze(c, time.Hour)
		}
		_, tm := dispatchTerm(t, store, sender, Settings{})
		advance(t, time.Minute)
		tm.checkEmpty(t)
		advance(t, time.Hour)
		if n := store.open(); n != 0 {
			t.Errorf("%d items are open", n)
		}
	})
}

// Chats stay in memory while their requests count against the limits, and no longer.
func TestPacedChatsAreForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const chats = 2000
		store, sender := newMemory(), newMessenger(t, nil)
		for c := range ChatID(chats) {
			store.add(c)
		}
		_, tm := dispatchTerm(t, store, sender, Settings{Limits: Limits{
			Group: []Window{{20, time.Minute}, {5, 5 * time.Second}}, Total: []Window{{1000, time.Second}},
		}})
		advance(t, 10*time.Second)
		if n := store.open(); n != 0 {
			t.Fatalf("%d items are open", n)
		}
		if n := tm.laneCount(); n != chats {
			t.Errorf("%d chats are in memory, want all %d", n, chats)
		}
		advance(t, time.Minute)
		tm.checkEmpty(t)
	})
}
