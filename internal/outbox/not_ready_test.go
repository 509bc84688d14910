package outbox

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// maker is a messenger whose messages of one kind have to be made first, each in the given time.
type maker struct {
	*messenger
	takes time.Duration
	made  map[int64]chan struct{}
}

const ofMade = "made"

func (m *maker) send(_ context.Context, message Message) error {
	if !m.isMaking(message) {
		return nil
	}
	f := failure(NotReady)
	f.Ready = m.made[message.Row.ID]
	return f
}

// isMaking is true if a message is not ready. The first call begins to make it.
func (m *maker) isMaking(message Message) bool {
	if message.Row.Kind != ofMade {
		return false
	}
	ready := m.made[message.Row.ID]
	if ready == nil {
		ready = make(chan struct{})
		m.made[message.Row.ID] = ready
		time.AfterFunc(m.takes, func() { close(ready) })
	}
	select {
	case <-ready:
		return false
	default:
		return true
	}
}

func newMaker(t *testing.T, takes time.Duration) *maker {
	t.Helper()
	m := &maker{takes: takes, made: make(map[int64]chan struct{})}
	m.messenger = newMessenger(t, m.send)
	m.silent = m.isMaking
	return m
}

// sentItem is an item and when it was sent.
type sentItem struct {
	ID int64
	At time.Duration
}

// sent returns what was sent to a chat, in order.
func (m *maker) sent(chat ChatID, since time.Time) (all []sentItem) {
	for _, r := range m.all() {
		if r.err == nil && r.chat == chat {
			all = append(all, sentItem{r.ids[0], r.begun.Sub(since)})
		}
	}
	return all
}

// While a message is being made, it holds no send slot: neither other chats nor earlier messages wait for it. It is sent as soon as it is
// ready, in its place, and asked for only once before.
func TestNotReady(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const takes = 2500 * time.Millisecond // polls come meanwhile
		store, sender := newMemory(), newMaker(t, takes)
		p := dispatch(t, store, sender, Settings{Parallel: 1, Bounds: Bounds{Merge: 1}, Limits: Limits{Total: []Window{{100, time.Minute}}}})
		synctest.Wait()
		begun := time.Now()
		store.add(1)                                      // 1
		store.put(row{chat: 1, Item: Item{Kind: ofMade}}) // 2
		store.add(1)                                      // 3
		store.put(row{chat: 2, Item: Item{Kind: ofMade}}) // 4
		p.Wake(1, 2)
		advance(t, time.Second)
		store.add(3, 1) // 5 and 6: a wake of the lane changes nothing
		p.Wake(3, 1)
		advance(t, time.Minute)
		for chat, want := range map[ChatID][]sentItem{
			1: {{1, 0}, {2, takes}, {3, takes}, {6, takes}}, 2: {{4, takes}}, 3: {{5, time.Second}},
		} {
			if diff := cmp.Diff(want, sender.sent(chat, begun)); diff != "" {
				t.Errorf("chat %d (-want +got):\n%s", chat, diff)
			}
		}
		if n := len(sender.all()); n != 6+2 {
			t.Errorf("%d calls for 6 messages, two of which were not ready at first", n)
		}
		if s := p.Stats(); s.Sent != 6 || s.Skipped != 0 || s.DeadLetters != 0 || s.PossibleDuplicates != 0 {
			t.Errorf("stats %+v", s)
		}
	})
}

// What is not ready counts against no limit. A leader that stops does not wait for it, and the next one sends it.
func TestNotReadyCountsAgainstNoLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		settings := Settings{Limits: Limits{Group: []Window{{1, 10 * time.Second}}}}
		store, sender := newMemory(), newMaker(t, time.Second)
		p := dispatch(t, store, sender, settings)
		synctest.Wait()
		begun := time.Now()
		for range 3 {
			store.put(row{chat: 1, Item: Item{Kind: ofMade}})
		}
		p.Wake(1)
		advance(t, 21*time.Second+500*time.Millisecond) // the third one is being made
		p.stop()
		if stopped := time.Since(begun); stopped != 21*time.Second+500*time.Millisecond {
			t.Errorf("stopped after %v", stopped)
		}
		dispatch(t, store, sender, settings)
		advance(t, time.Minute)
		// the first counts from its end, and the others are asked for when the limit allows a request
		want := []sentItem{{1, time.Second}, {2, 12 * time.Second}, {3, 23 * time.Second}}
		if diff := cmp.Diff(want, sender.sent(1, begun)); diff != "" {
			t.Errorf("sent (-want +got):\n%s", diff)
		}
	})
}
