package outbox

import (
	"testing"
	"testing/synctest"
	"time"
)

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
