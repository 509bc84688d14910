package outbox

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"elobot/internal/notice"
)

// TestUnnecessaryEditsAreSkipped checks that an edit of a message or of a board is skipped if the
// message is known and already shows the new content.
func TestUnnecessaryEditsAreSkipped(t *testing.T) {
	t.Parallel()
	same := Message{Items: []Item{{Kind: "test"}}}
	fingerprint := same.fingerprint(1)
	for name, c := range map[string]struct {
		row  row
		skip bool
	}{
		"edit, the same":          {row{action: Edit, target: 5, known: fingerprint}, true},
		"ensure, the same":        {row{action: Ensure, target: 5, known: fingerprint}, true},
		"edit, something else":    {row{action: Edit, target: 5, known: "another"}, false},
		"ensure, something else":  {row{action: Ensure, target: 5, known: "another"}, false},
		"ensure, unknown message": {row{action: Ensure, known: fingerprint}, false},
		"edit, unknown content":   {row{action: Edit, target: 5}, false},
		"ensure, unknown content": {row{action: Ensure, target: 5}, false},
	} {
		inBubble(t, name, func(t *testing.T) {
			store, sender := newMemory(), newMessenger(t, nil)
			var mu sync.Mutex
			var persisted []Result
			store.onAdvance = func(_ context.Context, results []Result, _ []Lane) error {
				mu.Lock()
				defer mu.Unlock()
				persisted = append(persisted, results...)
				return nil
			}
			c.row.chat = 1
			store.put(c.row)
			store.add(1)
			p := dispatch(t, store, sender, Settings{PollEvery: noPolls.PollEvery})
			synctest.Wait()
			want, message := []int64{1, 2}, messageID(1)
			if c.skip {
				want, message = []int64{2}, c.row.target
			}
			if c.row.action == Ensure && !c.skip {
				want = []int64{2, 1} // boards go last
			}
			equal(t, sender.ids(1), want, "requests")
			if r := store.row(1); r.state != rowSent || r.messageID != message {
				t.Errorf("the item is %s as message %d, want sent as %d", r.state, r.messageID, message)
			}
			if len(persisted) != 2 || persisted[0].Fingerprint != fingerprint || persisted[1].Fingerprint != fingerprint {
				t.Errorf("%d results are persisted, not all with the fingerprint %q", len(persisted), fingerprint)
			}
			if f := p.Stats(); (f.Skipped == 1) != c.skip || f.Sent != int64(len(want)) {
				t.Errorf("%d are counted as skipped, %d as sent", f.Skipped, f.Sent)
			}
		})
	}
}

// TestFingerprint checks that the fingerprint differs if the message shows something else. It does
// not depend on ids, attempts or other fields that the message does not show.
func TestFingerprint(t *testing.T) {
	t.Parallel()
	message := func() Message {
		return Message{
			Language: "en",
			Items:    []Item{{Kind: "a", Payload: []byte("bc"), Addressee: "d"}, {Kind: "e", Payload: []byte("f")}},
		}
	}
	prints := make(map[string]string)
	differs := func(name string, covered int, change func(*Message)) {
		m := message()
		change(&m)
		f := m.fingerprint(covered)
		equal(t, len(f), 16, "%s: length of the fingerprint", name)
		if other, ok := prints[f]; ok {
			t.Errorf("%q is the same as %q", name, other)
		}
		prints[f] = name
	}
	differs("as it is", 2, func(*Message) {})
	differs("one covered", 1, func(*Message) {})
	differs("language", 2, func(m *Message) { m.Language = "de" })
	differs("kind", 2, func(m *Message) { m.Items[1].Kind = "g" })
	differs("payload", 2, func(m *Message) { m.Items[1].Payload = []byte("g") })
	differs("addressee", 2, func(m *Message) { m.Items[1].Addressee = "g" })
	differs("a name", 2, func(m *Message) { m.Items[1].Names = map[int64]Name{1: {Name: "g"}} })
	differs("a mark", 2, func(m *Message) { m.Items[1].Names = map[int64]Name{1: {Name: "g", Mark: "h"}} })
	differs("tables", 2, func(m *Message) { m.Tables = true })
	differs("dark charts", 2, func(m *Message) { m.Dark = true })
	differs("time zone", 2, func(m *Message) { m.TimeZone = "Europe/Berlin" })
	differs("field boundaries", 2, func(m *Message) { m.Items[0].Kind, m.Items[0].Payload = "ab", []byte("c") })
	differs("the order", 2, func(m *Message) { slices.Reverse(m.Items) })

	m := message()
	m.Lane, m.ExternalChat, m.Private, m.Thread, m.Action, m.Purpose = Lane{Chat: 3}, 4, true, 5, Edit, notice.Answer
	m.Target, m.KnownFingerprint, m.More, m.Row = 6, "x", true, Item{ID: 7}
	for i := range m.Items {
		m.Items[i].ID, m.Items[i].Key, m.Items[i].Attempts, m.Items[i].PossibleDuplicates = 8, "k", 9, 10
		m.Items[i].Failures, m.Items[i].ReplyTo, m.Items[i].Button = 11, 12, "b"
	}
	if prints[m.fingerprint(2)] != "as it is" {
		t.Error("the fingerprint depends on something that the message does not show")
	}
}

// TestNotAttempted checks that a message that the sender rejects without a request does not count
// against the limits, but becomes a dead letter.
func TestNotAttempted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rejected := failure(Rejected)
		store := newMemory()
		sender := newMessenger(t, scripted(map[int64][]error{1: {rejected}, 2: {rejected}, 3: {rejected}}))
		sender.silent = func(m Message) bool { return m.Row.ID <= 3 }
		store.add(1, 1, 1, 1, 1)
		begun := time.Now()
		p := dispatch(t, store, sender, Settings{PollEvery: noPolls.PollEvery, Limits: Limits{
			Group: []Window{{1, time.Second}}, Total: []Window{{1, time.Second}},
		}})
		advance(t, time.Minute)
		equal(t, sender.begun(1, begun), []time.Duration{0, 0, 0, 0, time.Second}, "requests")
		if f := p.Stats(); f.DeadLetters != 3 || f.Sent != 2 || f.Skipped != 0 {
			t.Errorf("%d died, %d are sent, %d skipped, want 3, 2, 0", f.DeadLetters, f.Sent, f.Skipped)
		}
	})
}

// TestNotAttemptedDoesNotCloseCircuit checks that a message that the sender rejects without a
// request does not close the circuit, even if it is the first one after the pause.
func TestNotAttemptedDoesNotCloseCircuit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const chats, invalid = 10, 10
		unreachable := unavailable(time.Now().Add(time.Hour), Unreachable, 0)
		store, book := newMemory(), newLogbook()
		sender := newMessenger(t, func(ctx context.Context, m Message) error {
			if m.Private {
				return failure(Rejected)
			}
			return unreachable(ctx, m)
		})
		sender.silent = func(m Message) bool { return m.Private }
		for c := range ChatID(chats) {
			store.add(c)
		}
		p := run(t, NewDispatcher(store, sender, slog.New(book), Settings{}), newLease(1))
		advance(t, 30*time.Second)
		for c := ChatID(chats); c < chats+invalid; c++ {
			store.private[c] = true
			store.add(c)
		}
		advance(t, time.Minute)
		closed := len(book.lines("messenger answers again, circuit closed"))
		if s := p.Stats(); closed != 0 || !s.CircuitOpen || s.DeadLetters != invalid {
			t.Errorf("the circuit is open: %t, it has closed %d times, and %d items died", s.CircuitOpen, closed, s.DeadLetters)
		}
	})
}

// TestMigrated checks that, after a migration, requests go to the chat's new id. While
// Settings.ChatMigrated fails, the chat waits and the call is repeated.
func TestMigrated(t *testing.T) {
	t.Parallel()
	for name, failing := range map[string]int{"at once": 0, "the store is unavailable": 3, "moving panics": 3} {
		inBubble(t, name, func(t *testing.T) {
			const chat, moved = ChatID(1), int64(-100_1)
			store := newMemory()
			sender := newMessenger(t, func(_ context.Context, m Message) error {
				if m.ExternalChat != moved {
					return &Failure{Kind: Migrated, NewID: moved, Err: errors.New("the group is a supergroup")}
				}
				return nil
			})
			type move struct{ From, To int64 }
			var moves []move
			store.add(chat, chat)
			var kinds []FailureKind
			store.onAdvance = func(_ context.Context, results []Result, _ []Lane) error {
				for _, r := range results {
					if r.Failure != nil {
						kinds = append(kinds, r.Failure.Kind)
					}
				}
				return nil
			}
			dispatch(t, store, sender, Settings{ChatMigrated: func(_ context.Context, from, to int64) error {
				if moves = append(moves, move{from, to}); len(moves) <= failing {
					if name == "moving panics" {
						panic(errPanic)
					}
					return errUnavailable
				}
				store.move(chat, to)
				return nil
			}})
			advance(t, time.Minute)
			equal(t, moves, slices.Repeat([]move{{-1, moved}}, failing+1), "moves")
			equal(t, sender.ids(chat), append(slices.Repeat([]int64{1}, failing+2), 2), "requests")
			equal(t, store.count(rowSent), 2, "items sent")
			equal(t, kinds, slices.Repeat([]FailureKind{Migrated}, failing+1), "persisted failures")
		})
	}
}
