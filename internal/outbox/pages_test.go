package outbox

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/notice"
)

// addPages adds n pages to a chat. Each edits the same message, but none makes another one
// outdated.
func (m *memory) addPages(chat ChatID, n int) {
	for range n {
		m.put(row{chat: chat, action: Page, purpose: notice.Answer, target: 7})
	}
}

// actions returns the actions of the requests to a chat, and when they began, relative to since.
func (m *messenger) actions(chat ChatID, since time.Time) (actions []Action, begun []time.Duration) {
	for _, r := range m.to(chat) {
		actions, begun = append(actions, r.message.Action), append(begun, r.begun.Sub(since))
	}
	return actions, begun
}

// TestPagesShareThePace checks that pages and messages share the limits of their chat, and pages
// use only half of each limit. If both wait, messages go first, but only for pagePatience.
func TestPagesShareThePace(t *testing.T) {
	t.Parallel()
	for name, fromStore := range map[string]bool{"of a known chat": true, "of a new chat": false} {
		inBubble(t, name, func(t *testing.T) {
			store, sender := newMemory(), newMessenger(t, answersAfter(10*time.Millisecond))
			limits := Limits{Group: []Window{{4, time.Minute}}}
			if fromStore {
				store.addPages(1, 5)
			}
			p := dispatch(t, store, sender, Settings{Limits: limits})
			synctest.Wait()
			if !fromStore {
				store.addPages(1, 5)
				p.Dispatcher.Wake(Lane{1, Pages})
			}
			begun := time.Now()
			for range 3 {
				advance(t, time.Second)
				store.add(1)
				p.Wake(1)
			}
			advance(t, 2*time.Minute)
			actions, at := sender.actions(1, begun)
			if diff := cmp.Diff([]Action{Page, Send, Page, Send, Page, Send, Page, Page}, actions); diff != "" {
				t.Fatalf("requests at %v (-want +got):\n%s", at, diff)
			}
			if at[1] != time.Second || at[3] != 2*time.Second || at[4].Truncate(time.Minute) != time.Minute {
				t.Errorf("the requests are made at %v", at)
			}
			if err := sender.exceeded(limits); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestPagesDelayNoMessages checks that a page in flight does not delay a message that the limits
// allow. A page waits for messages, but not longer than pagePatience.
func TestPagesDelayNoMessages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := Send
		store := newMemory()
		sender := newMessenger(t, func(ctx context.Context, m Message) error {
			if m.Action == slow {
				return answersAfter(4*time.Second)(ctx, m)
			}
			return nil
		})
		p := dispatch(t, store, sender, Settings{Limits: messengerLimits()})
		store.add(1) // the limits of the chat are unknown before the first answer
		p.Wake(1)
		advance(t, time.Minute)
		for _, c := range []struct {
			slow     Action
			messages int
			wait     time.Duration // of the page
		}{{Page, 1, 0}, {Send, 1, 4 * time.Second}, {Send, 5, pagePatience}} {
			slow = c.slow
			begun, before := time.Now(), len(sender.all())
			if slow == Page {
				store.addPages(1, 1)
				p.Dispatcher.Wake(Lane{1, Pages})
				synctest.Wait()
			}
			for range c.messages {
				store.add(1)
			}
			p.Wake(1)
			synctest.Wait()
			if slow == Send {
				store.addPages(1, 1)
				p.Dispatcher.Wake(Lane{1, Pages})
			}
			advance(t, time.Minute)
			messages := 0
			for _, r := range sender.all()[before:] {
				want := c.wait
				if r.message.Action == Send {
					want = time.Duration(messages) * 4 * time.Second
					messages++
				}
				equal(t, r.begun.Sub(begun), want, "while %s takes long, delay of %s", slow, r.message.Action)
			}
		}
		if open := store.open(); open > 0 {
			t.Errorf("%d items wait", open)
		}
	})
}

// TestPageInABusyChat checks that even if messages always wait in a chat, a page is sent soon after
// pagePatience.
func TestPageInABusyChat(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const every = 3 * time.Second
		store, sender := newMemory(), newMessenger(t, nil)
		p := dispatch(t, store, sender, Settings{Bounds: Bounds{Merge: 1}, Limits: Limits{Group: []Window{{1, every}}}})
		begun := time.Now()
		store.addPages(1, 1)
		p.Dispatcher.Wake(Lane{1, Pages})
		for range 60 {
			store.add(1)
			p.Wake(1)
			advance(t, time.Second)
		}
		actions, at := sender.actions(1, begun)
		page := slices.Index(actions, Page)
		if page < 0 {
			t.Fatal("the page is not shown")
		}
		checkBetween(t, "the page waits", at[page], pagePatience, pagePatience+every)
	})
}

// TestPagesWaitForTheRequestInFlight checks that, while a request from one lane uses up the chat's
// limit, the chat's other lane waits. When the request ends, the other lane continues, whatever the
// outcome.
func TestPagesWaitForTheRequestInFlight(t *testing.T) {
	t.Parallel()
	for _, kind := range []FailureKind{"", Unreachable, Ambiguous, Rejected, Obsolete} {
		inBubble(t, string(kind), func(t *testing.T) {
			store := newMemory()
			store.private[1] = true
			sender := newMessenger(t, func(ctx context.Context, m Message) error {
				_ = sleep(ctx, time.Second)
				if kind != "" && m.Action == Send && m.Row.Attempts == 1 {
					return failure(kind)
				}
				return nil
			})
			limits := Limits{Private: []Window{{1, time.Second}}}
			p, term := dispatchTerm(t, store, sender, Settings{Limits: limits})
			synctest.Wait()
			store.add(1)
			store.addPages(1, 2)
			p.Dispatcher.Wake(Lane{1, Messages}, Lane{1, Pages})
			advance(t, time.Minute)
			if open := store.open(); open > 0 {
				t.Errorf("%d items wait", open)
			}
			if err := sender.exceeded(limits); err != nil {
				t.Error(err)
			}
			term.checkEmpty(t)
		})
	}
}

// TestPagesAreNotUncertain checks that a page is not given up after many unknown outcomes, because
// repeating it creates no duplicate. It ends at its deadline.
func TestPagesAreNotUncertain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sender := newMemory(), newMessenger(t, func(context.Context, Message) error { return failure(Ambiguous) })
		id := store.put(row{chat: 1, action: Page, target: 7, expires: time.Now().Add(10 * time.Minute),
			Item: Item{PossibleDuplicates: 6}})
		dispatch(t, store, sender, Settings{})
		advance(t, time.Hour)
		if r := store.row(id); r.state != rowExpired || len(sender.all()) == 0 {
			t.Errorf("the page is %s after %d requests", r.state, len(sender.all()))
		}
	})
}
