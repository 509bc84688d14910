package outbox

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/notice"
)

func (m *memory) addBoard(chat ChatID) int64 {
	return m.put(row{chat: chat, action: Ensure, purpose: notice.Notification, target: 7, known: "another"})
}

// TestBoardsGoLast checks that a board waits until its chat has no messages or pages to send, even
// while a message waits for the limits or for a retry.
func TestBoardsGoLast(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newMemory()
		sender := newMessenger(t, func(ctx context.Context, m Message) error {
			_ = sleep(ctx, 10*time.Millisecond)
			if m.Action == Send && m.Row.ID == 2 && m.Row.Attempts == 1 {
				return failure(Unreachable)
			}
			return nil
		})
		limits := Limits{Group: []Window{{4, time.Minute}}}
		p := dispatch(t, store, sender, Settings{Limits: limits})
		synctest.Wait()
		begun := time.Now()
		store.addBoard(1) // item 1
		store.add(1)      // item 2, which fails once
		p.Dispatcher.Wake(Lane{1, Messages}, Lane{1, Boards})
		advance(t, 5*time.Second)
		store.addPages(1, 1) // item 3
		store.addBoard(1)    // item 4
		p.Dispatcher.Wake(Lane{1, Boards}, Lane{1, Pages})
		advance(t, time.Second)
		store.add(1) // item 5, which waits for the limit
		p.Wake(1)
		advance(t, time.Second)
		store.add(1) // item 6
		p.Wake(1)
		advance(t, 5*time.Minute)
		actions, at := sender.actions(1, begun)
		equal(t, actions, []Action{Send, Send, Ensure, Page, Send, Send, Ensure}, "requests at %v", at)
		if err := sender.exceeded(limits); err != nil {
			t.Error(err)
		}
		if open := store.open(); open > 0 {
			t.Errorf("%d items wait", open)
		}
	})
}

// TestBoardsDelayNoMessages checks that a board in flight does not delay a message that the limits
// allow.
func TestBoardsDelayNoMessages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newMemory()
		sender := newMessenger(t, func(ctx context.Context, m Message) error {
			if m.Action == Ensure {
				return answersAfter(4*time.Second)(ctx, m)
			}
			return nil
		})
		p := dispatch(t, store, sender, Settings{Limits: messengerLimits()})
		synctest.Wait()
		store.add(1)
		p.Wake(1)
		synctest.Wait()
		store.addBoard(1)
		p.Dispatcher.Wake(Lane{1, Boards})
		advance(t, time.Second)
		begun := time.Now()
		store.add(1)
		p.Wake(1)
		synctest.Wait()
		if all := sender.to(1); len(all) != 3 || all[1].message.Action != Ensure || !all[2].begun.Equal(begun) {
			t.Errorf("requests %+v", all)
		}
	})
}

// TestContentMadeWhenSent checks that the store gets the sender's receipt for a board, including
// the fingerprint. A board that the sender skips counts as skipped in the statistics, but its
// request counts against the limits.
func TestContentMadeWhenSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newMemory()
		var mu sync.Mutex
		var persisted []Receipt
		var fingerprints []string
		store.onAdvance = func(_ context.Context, results []Result, _ []Lane) error {
			mu.Lock()
			defer mu.Unlock()
			for _, r := range results {
				persisted, fingerprints = append(persisted, r.Receipt), append(fingerprints, r.Fingerprint)
			}
			return nil
		}
		receipts := []Receipt{
			{MessageID: 7, Fingerprint: "a", Pin: Pinned}, {MessageID: 7, Fingerprint: "a", Skipped: true}, {Ended: true, Fingerprint: "b"},
		}
		var begun []time.Duration
		start := time.Now()
		sender := senderFunc(func(context.Context, Message) (Receipt, error) {
			begun = append(begun, time.Since(start))
			return receipts[len(begun)-1], nil
		})
		for range receipts {
			store.addBoard(1)
		}
		p := dispatch(t, store, sender, Settings{Limits: Limits{Group: []Window{{2, time.Minute}}}})
		advance(t, 10*time.Minute)
		equal(t, persisted, receipts, "persisted")
		equal(t, fingerprints, []string{"a", "a", "b"}, "fingerprints")
		equal(t, begun, []time.Duration{0, time.Minute, 2 * time.Minute}, "requests")
		if s := p.Stats(); s.Skipped != 1 || s.Sent != 2 {
			t.Errorf("%+v", s)
		}
	})
}

// TestTouched checks that Touched is called for each wake and for each message sent, but not for
// boards, which would otherwise be updated forever. BoardBegins is called for boards only.
func TestTouched(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		touched := make(map[ChatID]int)
		var begun []ChatID
		store, sender := newMemory(), newMessenger(t, nil)
		p := dispatch(t, store, sender, Settings{Touched: func(chat ChatID) {
			mu.Lock()
			defer mu.Unlock()
			touched[chat]++
		}, BoardBegins: func(chat ChatID) {
			mu.Lock()
			defer mu.Unlock()
			begun = append(begun, chat)
		}})
		synctest.Wait()
		store.add(1)
		p.Wake(1)
		store.add(2) // its wake is lost
		store.addBoard(3)
		p.Dispatcher.Wake(Lane{3, Boards})
		p.Wake(4) // with nothing to send
		advance(t, 10*time.Second)
		if diff := cmp.Diff(map[ChatID]int{1: 2, 2: 1, 4: 1}, touched); diff != "" || len(sender.all()) != 3 {
			t.Errorf("%d requests (-want +got):\n%s", len(sender.all()), diff)
		}
		equal(t, begun, []ChatID{3}, "boards")
	})
}
