package outbox

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// fate is what becomes of one request.
type fate struct {
	class     Class // "": it succeeds
	delivered bool  // for Ambiguous: the message has arrived
	lasts     time.Duration
	panics    bool // for Rejected
	unwritten int  // how often what came of it cannot be written down
}

// event is one thing that happens from outside.
type event struct {
	after   time.Duration // the one before
	chats   []ChatID      // one more item for each of these
	wake    bool
	restart bool
	hurry   bool // for restart: what the new dispatcher has under way at its end is cut off
}

// scenario is all that happens. The last fate of an item is the one that ends it.
type scenario struct {
	events []event
	fates  [][]fate // of each item, by the number of requests it has seen
	takes  []bool   // whether each Take fails, from the first on
}

func drawScenario(t *rapid.T) scenario {
	const maxItems = 40
	chat := rapid.Map(rapid.Int64Range(1, 4), func(id int64) ChatID { return ChatID(id) })
	wait := rapid.Map(rapid.SampledFrom([]int64{0, 0, 1, 20, 150, 700, 4000}), func(ms int64) time.Duration {
		return time.Duration(ms) * time.Millisecond
	})
	lasts := rapid.Map(rapid.SampledFrom([]int64{0, 0, 10, 90, 900, 30_000}), func(ms int64) time.Duration {
		return time.Duration(ms) * time.Millisecond
	})
	oneIn := func(n int) *rapid.Generator[bool] {
		return rapid.Map(rapid.IntRange(1, n), func(i int) bool { return i == n })
	}
	unwritten := rapid.SampledFrom([]int{0, 0, 0, 0, 1, 3})
	failing := rapid.Custom(func(t *rapid.T) fate {
		return fate{
			class:     rapid.SampledFrom([]Class{RateLimited, Unreachable, Ambiguous, Unauthorized, Gone}).Draw(t, "class"),
			delivered: rapid.Bool().Draw(t, "delivered"),
			lasts:     lasts.Draw(t, "lasts"),
			unwritten: unwritten.Draw(t, "unwritten"),
		}
	})
	last := rapid.Custom(func(t *rapid.T) fate {
		f := fate{lasts: min(lasts.Draw(t, "lasts"), time.Second), unwritten: unwritten.Draw(t, "unwritten")}
		switch {
		case oneIn(6).Draw(t, "rejected"):
			f.class, f.panics = Rejected, rapid.Bool().Draw(t, "panics")
		case oneIn(6).Draw(t, "pointless"):
			f.class = Pointless
		}
		return f
	})
	s := scenario{
		events: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) event {
			e := event{after: wait.Draw(t, "after"), wake: rapid.Bool().Draw(t, "wake")}
			if oneIn(5).Draw(t, "restart") {
				e.restart, e.hurry = true, rapid.Bool().Draw(t, "hurry")
				return e
			}
			e.chats = rapid.SliceOfN(chat, 1, 5).Draw(t, "chats")
			return e
		}), 1, maxItems/5).Draw(t, "events"),
		takes: rapid.SliceOfN(oneIn(4), 0, 60).Draw(t, "takes"),
	}
	for _, e := range s.events {
		for range e.chats {
			fates := rapid.SliceOfN(failing, 0, 3).Draw(t, "failing")
			s.fates = append(s.fates, append(fates, last.Draw(t, "last")))
		}
	}
	return s
}

// world is a messenger with a memory of what has arrived, and the faults of a store.
type world struct {
	store *memory

	mu        sync.Mutex
	seen      map[int64]int      // requests for each item
	unwritten map[int64]int      // how often Finish still fails for it
	copies    map[int64]int      // messages that have arrived
	firsts    map[ChatID][]int64 // the items in the order in which their first copies have arrived
	takes     []bool
}

// answer lets a request meet its fate. One that is cut off may or may not have arrived.
func (w *world) answer(ctx context.Context, item Item, fates []fate) error {
	w.mu.Lock()
	f := fates[min(w.seen[item.ID], len(fates)-1)]
	w.seen[item.ID]++
	w.unwritten[item.ID] = f.unwritten
	w.mu.Unlock()
	if err := pass(ctx, f.lasts); err != nil {
		if f.delivered {
			w.arrive(item)
		}
		return &Failure{Class: Ambiguous, Err: err}
	}
	switch {
	case f.panics:
		panic(errPanic)
	case f.class == "", f.class == Ambiguous && f.delivered:
		w.arrive(item)
	}
	if f.class == "" {
		return nil
	}
	return &Failure{Class: f.class, RetryAfter: f.lasts, Err: errors.New("as drawn")}
}

func (w *world) arrive(item Item) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.copies[item.ID]++; w.copies[item.ID] == 1 {
		w.firsts[item.Chat] = append(w.firsts[item.Chat], item.ID)
	}
}

func (w *world) onTake(context.Context, ChatID) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.takes) == 0 {
		return nil
	}
	fails := w.takes[0]
	w.takes = w.takes[1:]
	if fails {
		return errAway
	}
	return nil
}

func (w *world) onFinish(_ context.Context, r Result) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.unwritten[r.Item.ID] > 0 {
		w.unwritten[r.Item.ID]--
		return errAway
	}
	return nil
}

// heard is that of every parked chat something is heard again.
func (w *world) heard(p *process) {
	for c := range ChatID(5) {
		w.store.unpark(c)
		p.Wake(c)
	}
}

// play lets it all happen, waits for the end and looks at what there is.
func (s scenario) play(t *testing.T) error {
	t.Helper()
	store := newMemory()
	w := &world{store: store, seen: make(map[int64]int), unwritten: make(map[int64]int),
		copies: make(map[int64]int), firsts: make(map[ChatID][]int64), takes: s.takes}
	store.onTake, store.onFinish = w.onTake, w.onFinish
	sender := newMessenger(t, func(ctx context.Context, item Item) error {
		return w.answer(ctx, item, s.fates[item.ID-1])
	})
	usual, hurried := Settings{Parallel: 3}, Settings{Parallel: 3, DrainFor: time.Nanosecond}
	p := dispatch(t, store, sender, usual)
	for _, e := range s.events {
		after(t, e.after)
		store.add(e.chats...)
		switch {
		case e.restart:
			between(t, "stopping", p.stop(), 0, p.settings.DrainFor+finishTimeout)
			settings := usual
			if e.hurry {
				settings = hurried
			}
			p = dispatch(t, store, sender, settings)
		case e.wake:
			p.Wake(e.chats...)
		}
	}
	for range 600 {
		if store.open() == 0 {
			break
		}
		after(t, 10*time.Second)
		w.heard(p)
	}
	after(t, time.Minute)
	defer p.stop()
	if len(p.lanes) != 0 {
		return fmt.Errorf("%d lanes are kept", len(p.lanes))
	}
	return w.check(s)
}

func (w *world) check(s scenario) error {
	for i, fates := range s.fates {
		r := w.store.row(int64(i + 1))
		end := rowSent
		switch fates[len(fates)-1].class {
		case Rejected:
			end = rowDead
		case Pointless:
			end = rowExpired
		}
		copies := w.copies[r.item.ID]
		switch {
		case r.state != end:
			return fmt.Errorf("item %d is %s, want %s", r.item.ID, r.state, end)
		case end == rowSent && copies == 0:
			return fmt.Errorf("item %d is lost", r.item.ID)
		case copies > 1+r.item.PerhapsSent:
			return fmt.Errorf("item %d arrives %d times, perhaps sent %d times", r.item.ID, copies, r.item.PerhapsSent)
		}
	}
	for chat, ids := range w.firsts {
		for i := range len(ids) - 1 {
			if ids[i] > ids[i+1] {
				return fmt.Errorf("in chat %d items arrive in the order %v", chat, ids)
			}
		}
	}
	return nil
}

// Whatever fails and whenever the dispatcher is started anew: each chat gets all that was enqueued for it, in that
// order, and nothing twice but what the store counts as perhaps sent.
func TestModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s := drawScenario(rt)
		var err error
		synctest.Test(t, func(t *testing.T) { err = s.play(t) })
		if err != nil {
			rt.Fatal(err)
		}
	})
}
