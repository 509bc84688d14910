package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// unknown returns a refusal that the sender cannot classify. It contains the id of m's chat, so the
// refusals of different chats differ only in a number.
func unknown(m Message) *Failure {
	words := fmt.Sprintf("PEER %d_FLOOD", m.ExternalChat)
	return &Failure{Kind: Failed, Refusal: words, Err: errors.New(words)}
}

// refusing returns a function that refuses the messages for which refused returns true, and accepts
// all others.
func refusing(refused func(Message) bool) func(context.Context, Message) error {
	return func(_ context.Context, m Message) error {
		if refused(m) {
			return unknown(m)
		}
		return nil
	}
}

// checkDeath checks that an item became a dead letter after the given number of requests, 0 for any
// number. The last request must have begun between low and high after the first one.
func checkDeath(t *testing.T, store *memory, sender *messenger, id int64, requests int, low, high time.Duration) {
	t.Helper()
	var begun []time.Time
	for _, r := range sender.all() {
		if slices.Contains(r.ids, id) {
			begun = append(begun, r.begun)
		}
	}
	if r := store.row(id); r.state != rowDead || requests > 0 && len(begun) != requests {
		t.Fatalf("item %d is %s after %d requests", id, r.state, len(begun))
	}
	checkBetween(t, fmt.Sprintf("life of item %d", id), begun[len(begun)-1].Sub(begun[0]), low, high)
}

// TestRefusedInOneChat checks that an item that is always refused for an unknown reason, in only
// one chat, is retried for about a minute. Then it becomes a dead letter, and its lane continues.
func TestRefusedInOneChat(t *testing.T) {
	t.Parallel()
	for name, action := range map[string]Action{"message": Send, "page": Page, "board": Ensure} {
		inBubble(t, name, func(t *testing.T) {
			store, sender := newMemory(), newMessenger(t, refusing(func(m Message) bool { return m.Row.ID == 1 }))
			store.put(row{chat: 1, action: action, target: 5})
			store.add(2)
			store.add(1)
			p := dispatch(t, store, sender, Settings{})
			advance(t, 80*time.Second)
			checkDeath(t, store, sender, 1, 8, 36*time.Second, 68*time.Second)
			equal(t, store.count(rowSent), 2, "items sent")
			if s := p.Stats(); s.CircuitOpen || s.DeadLetters != 1 {
				t.Errorf("the circuit is open: %t; dead letters: %d", s.CircuitOpen, s.DeadLetters)
			}
		})
	}
}

// TestRefusedAmongOthers checks that, if three chats among many get the same refusal, the refusal
// counts against their items. The other chats get their messages promptly, and the three items
// become dead letters about a minute later.
func TestRefusedAmongOthers(t *testing.T) {
	t.Parallel()
	const chats, poisoned = 100, 3
	for name, parallel := range map[string]int{"one at a time": 1, "many at once": 32} {
		inBubble(t, name, func(t *testing.T) {
			poison := func(m Message) bool { return m.Row.ID <= poisoned }
			store := newMemory()
			sender := newMessenger(t, func(ctx context.Context, m Message) error {
				if err := sleep(ctx, 10*time.Millisecond); err != nil {
					return err
				}
				return refusing(poison)(ctx, m)
			})
			for c := range ChatID(chats + poisoned) {
				store.add(c + 1)
			}
			dispatch(t, store, sender, Settings{Parallel: parallel})
			advance(t, 15*time.Second)
			equal(t, store.count(rowSent), chats, "others told promptly")
			advance(t, 70*time.Second)
			for id := range int64(poisoned) {
				checkDeath(t, store, sender, id+1, 0, 30*time.Second, 80*time.Second)
			}
			if dead := store.count(rowDead); dead != poisoned || store.count(rowSent) != chats {
				t.Errorf("%d items are dead, %d are sent", dead, store.count(rowSent))
			}
		})
	}
}

// TestNewItemAmongRefusedOnes checks that, while refused items wait for the end of an outage, a new
// item is the next to be tried. If it is accepted, there is no outage, and the refused items become
// dead letters.
func TestNewItemAmongRefusedOnes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const poisoned = 20
		store := newMemory()
		sender := newMessenger(t, refusing(func(m Message) bool { return m.Row.ID <= poisoned }))
		for c := range ChatID(poisoned) {
			store.add(c + 1)
		}
		p := dispatch(t, store, sender, Settings{})
		advance(t, 5*time.Minute)
		if !p.Stats().CircuitOpen || store.count(rowDead) > 0 {
			t.Errorf("the circuit is open: %t; dead letters: %d", p.Stats().CircuitOpen, store.count(rowDead))
		}
		store.add(100)
		p.Wake(100)
		advance(t, 26*time.Second+rounding)
		equal(t, store.row(poisoned+1).state, rowSent, "state of the new item")
		advance(t, 2*time.Minute) // the accepted item shows that there is no outage
		if n := store.count(rowDead); n != poisoned || p.Stats().CircuitOpen {
			t.Errorf("%d of %d refused items are dead; the circuit is open: %t", n, poisoned, p.Stats().CircuitOpen)
		}
	})
}

// TestRefusedEverywhere checks that the same refusal in all chats counts as an outage for up to ten
// minutes. Few requests are made, no item becomes a dead letter, and everything is sent soon after
// the refusals end. After ten minutes, refusals count against their items, and no item blocks its
// lane for more than twelve minutes.
func TestRefusedEverywhere(t *testing.T) {
	t.Parallel()
	const chats = 50
	for _, minutes := range []time.Duration{5, 9, 60} {
		inBubble(t, fmt.Sprintf("%d minutes", minutes), func(t *testing.T) {
			end := time.Now().Add(minutes * time.Minute)
			store, book := newMemory(), newLogbook()
			sender := newMessenger(t, refusing(func(Message) bool { return time.Now().Before(end) }))
			for c := range ChatID(chats) {
				store.put(row{chat: c, action: []Action{Send, Page, Ensure}[c%3], target: 5})
			}
			p := run(t, NewDispatcher(store, sender, slog.New(book),
				Settings{Bounds: Bounds{Merge: 1}, Limits: messengerLimits()}), newLease(1))
			advance(t, min(minutes, 9)*time.Minute-1)
			if n := store.count(rowDead); n > 0 || !p.Stats().CircuitOpen {
				t.Errorf("%d items are dead; the circuit is open: %t", n, p.Stats().CircuitOpen)
			}
			if n := len(sender.all()); n > chats+60 {
				t.Errorf("%d requests", n)
			}
			if minutes < 10 {
				advance(t, time.Minute)
				if n := store.count(rowSent); n != chats || p.Stats().CircuitOpen {
					t.Errorf("%d of %d are told", n, chats)
				}
				if n := len(book.lines("notice failed too often, moved to dead letters")); n > 0 {
					t.Errorf("the log reports %d dead letters", n)
				}
				return
			}
			advance(t, time.Minute)
			if n := store.count(rowDead); n > 0 {
				t.Errorf("%d items are dead after ten minutes", n)
			}
			advance(t, 2*time.Minute+2*time.Second)
			for id := range int64(chats) {
				// The first request for a board begins later than those for messages.
				checkDeath(t, store, sender, id+1, 0, 5*time.Minute, 12*time.Minute)
			}
			equal(t, len(book.lines("notice failed too often, moved to dead letters")), chats, "dead letters")
		})
	}
}

// TestRefusalsThatDiffer checks that refusals in different words are not an outage. Failures of the
// kind Failed without words from the messenger are not an outage either.
func TestRefusalsThatDiffer(t *testing.T) {
	t.Parallel()
	for name, words := range map[string]func(chat int64) string{
		"words":    func(chat int64) string { return []string{"NO", "NEVER", "AGAIN"}[-chat%3] },
		"no words": func(int64) string { return "" },
	} {
		inBubble(t, name, func(t *testing.T) {
			store := newMemory()
			sender := newMessenger(t, func(_ context.Context, m Message) error {
				return &Failure{Kind: Failed, Refusal: words(m.ExternalChat), Err: errors.New("no")}
			})
			store.add(1, 2, 3)
			dispatch(t, store, sender, Settings{})
			advance(t, 80*time.Second)
			for id := range int64(3) {
				checkDeath(t, store, sender, id+1, 8, 36*time.Second, 68*time.Second)
			}
		})
	}
}
