package outbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"elobot/internal/outbox/queuemodel"
)

// world is everything around the dispatchers.
type world struct {
	scenario
	model  *queuemodel.Model
	db     *database
	hosts  []*host
	counts tally
	tells  sync.WaitGroup // the items that are being added as they are sent

	mu        sync.Mutex
	calm      bool // nothing goes wrong any more but requests
	seen      map[int64]int
	addresses map[ChatID]int64 // by which the messenger knows the chats
	outage    Class            // what all requests meet
	until     time.Time        // … before that moment
	attempted time.Time
	asks      int // calls of the store at that moment
	wrong     []error
}

// host is where one instance runs after the other.
type host struct {
	instance *instance
	down     bool
	all      []*instance
}

// tally counts what a scenario meets.
type tally struct {
	mu     sync.Mutex
	counts map[string]int
}

func (t *tally) add(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.counts == nil {
		t.counts = make(map[string]int)
	}
	t.counts[what]++
}

func newWorld(s scenario) *world {
	w := &world{
		scenario: s, model: queuemodel.New(s.rules(), time.Now), seen: make(map[int64]int),
		addresses: make(map[ChatID]int64),
	}
	w.db = newDatabase(w.model, &w.counts)
	w.db.forgetful = s.alone
	for c, a := range w.db.chats {
		w.addresses[c] = a.to
	}
	for range s.hosts {
		h := &host{}
		w.hosts = append(w.hosts, h)
		w.restart(h)
	}
	return w
}

func (w *world) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrong = append(w.wrong, err)
}

// next returns the fate of the next call of the store.
func (w *world) next(calls *[]call) call {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(*calls) == 0 || w.calm {
		return call{}
	}
	c := (*calls)[0]
	*calls = (*calls)[1:]
	return c
}

func (w *world) nextMove() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.moves) == 0 {
		return true
	}
	succeeds := w.moves[0]
	w.moves = w.moves[1:]
	return succeeds
}

// hurry keeps a dispatcher that asks the store again and again from stopping the time.
func (w *world) hurry() {
	const many = 500
	w.mu.Lock()
	if now := time.Now(); !w.attempted.Equal(now) {
		w.attempted, w.asks = now, 0
	}
	w.asks++
	tooMany := w.asks > many
	w.mu.Unlock()
	if tooMany {
		w.fail(fmt.Errorf("the store is asked %d times in a moment", many))
		_ = pass(context.Background(), time.Minute)
	}
}

// fate returns the fate of a request.
func (w *world) fate(m Message) fate {
	w.mu.Lock()
	defer w.mu.Unlock()
	if time.Now().Before(w.until) {
		return fate{class: w.outage, lasts: 90 * time.Millisecond, arrives: 50, wait: time.Second}
	}
	fates := w.db.fatesOf(m.Row.ID)
	f := fates[min(w.seen[m.Row.ID], len(fates)-1)]
	if w.seen[m.Row.ID]++; w.seen[m.Row.ID] >= len(fates) {
		f.lasts = min(f.lasts, w.settings.SendTimeout*9/10)
	}
	chat := m.Lane.Chat
	if f.class == Migrated {
		if to := int64(-1000 - chat); w.addresses[chat] != to {
			w.addresses[chat] = to
		} else {
			f.class = Unreachable
		}
	}
	if m.To != w.addresses[chat] && !m.Lane.CallbackAnswers {
		f.class, f.newID, f.unasked = Migrated, w.addresses[chat], false
	}
	if m.Action == Edit && m.Target == 0 {
		f.class, f.unasked = Obsolete, true
	}
	return f
}

// cover takes note of what the messenger has answered.
func (w *world) cover(m Message, told int, class Class, f fate) {
	w.counts.add("an answer: " + string(class))
	for what, is := range map[string]bool{
		"several items in a message":          class == "" && m.Action == Send && told > 1,
		"items that are not named":            class == "" && m.Action == Send && m.Count > len(m.Items),
		"items that did not fit":              told < len(m.Items) && m.Action == Send,
		"an unknown outcome that arrived":     class == Ambiguous && f.delivered,
		"an unknown outcome that did not":     class == Ambiguous && !f.delivered,
		"a panic":                             class == Failed && f.panics,
		"a sender that did not come back":     f.hangs > 0,
		"a merged message of unknown outcome": class == Ambiguous && told > 1,
		"an edit":                             class == "" && m.Action == Edit,
		"a wait of many minutes":              class == RateLimited && f.wait > 10*time.Minute,
	} {
		if is {
			w.counts.add(what)
		}
	}
}

// happen lets an event happen.
func (w *world) happen(e event) {
	switch e.deed {
	case "":
		w.put(e)
		return
	case onResult:
		w.onResult()
		w.put(e)
		return
	case outage:
		w.mu.Lock()
		w.outage, w.until = e.class, time.Now().Add(e.lasts)
		w.mu.Unlock()
		w.put(e)
		return
	}
	h, i := w.host(e.other)
	if e.deed == add {
		i.trap(e.moment, e.nth, func() { w.put(e) })
		return
	}
	i.trap(e.moment, e.nth, func() { w.strike(h, i, e) })
	if e.moment == whenStarted {
		leading, leader := w.host(false)
		leader.trap(whenTold, 2, func() { w.strike(leading, leader, e) })
	}
	if e.deed != isolate {
		w.put(e)
	}
}

// put puts what an event adds into the queue.
func (w *world) put(e event) {
	var lanes []Lane
	for _, a := range e.adds {
		if a.direct {
			w.tells.Go(func() { w.tell(a) })
			continue
		}
		w.db.put(a)
		lanes = append(lanes, a.lane())
	}
	if e.wake {
		w.wake(lanes...)
	}
	if e.stray {
		w.wake(Lane{Chat: 1}, Lane{Chat: 2}, Lane{Chat: 3}, Lane{Chat: 4}, Lane{Chat: 5}, Lane{Chat: 5, CallbackAnswers: true})
	}
}

// tell puts an item into the queue as a command does, by the instance that dispatches: it is sent at once where there is a
// place for it. A process that is gone has done nothing; then somebody else puts it there.
func (w *world) tell(a addition) {
	_, i := w.host(false)
	if place := i.dispatcher.Reserve(context.Background(), a.lane()); place != nil {
		defer place.Release()
		_ = pass(context.Background(), a.held)
		i.stand()
		if m, added := w.db.putNow(i, place.Epoch(), a); m != nil {
			w.counts.add("an item that was sent as it was added")
			if i.stand(); !i.isGone() {
				place.Send(*m)
			}
			return
		} else if added {
			w.counts.add("an item whose place was of no use")
			i.dispatcher.Wake(a.lane())
			return
		}
	}
	w.db.put(a)
	w.wake(a.lane())
}

// host returns the instance that dispatches, or another one, and its host.
func (w *world) host(other bool) (*host, *instance) {
	all := w.instances()
	for n, i := range all {
		if i.leads() != other {
			return w.hosts[n], i
		}
	}
	return w.hosts[0], all[0]
}

// strike does something to an instance.
func (w *world) strike(h *host, i *instance, e event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if h.down || h.instance != i || w.calm {
		return
	}
	switch e.deed {
	case stop:
		h.down = true
		go func() {
			i.stop()
			_ = pass(context.Background(), e.lasts)
			w.restart(h)
		}()
	case kill:
		h.down = true
		i.kill()
		go func() {
			_ = pass(context.Background(), e.lasts)
			w.restart(h)
		}()
	case freeze:
		i.freeze(e.lasts)
	case isolate:
		left := i.isolate(time.Minute)
		go func() {
			_ = pass(context.Background(), left-e.before)
			w.put(e)
		}()
	}
}

func (w *world) restart(h *host) {
	i := w.start()
	w.mu.Lock()
	defer w.mu.Unlock()
	h.instance, h.down = i, false
	h.all = append(h.all, i)
}

func (w *world) instances() []*instance {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []*instance
	for _, h := range w.hosts {
		all = append(all, h.instance)
	}
	return all
}

func (w *world) wake(lanes ...Lane) {
	for _, i := range w.instances() {
		i.dispatcher.Wake(lanes...)
	}
}

// hear is that something is heard of every chat that may not be written to, or that has moved without anybody's having
// been told.
func (w *world) onResult() {
	lanes := w.db.unpark()
	if !w.hooked {
		w.mu.Lock()
		addresses := maps.Clone(w.addresses)
		w.mu.Unlock()
		for c, to := range addresses {
			w.db.move(-int64(c), to)
		}
	}
	w.wake(lanes...)
}

// finish waits until there is nothing more to be sent.
func (w *world) finish() {
	const look, looks = 10 * time.Second, 1500
	for range looks {
		_ = pass(context.Background(), look)
		w.onResult()
		if w.db.open() == 0 {
			return
		}
	}
}

// rest looks at what the instances keep in memory when there is nothing to be done.
func (w *world) rest() error {
	leads := 0
	for _, i := range w.instances() {
		t := i.term
		if t == nil {
			continue
		}
		leads++
		n := len(t.lanes) + len(t.due) + len(t.ready) + len(t.slow) + len(t.callbackAnswers) + len(t.takes) + len(t.results)
		if t.breaker.probing {
			return errors.New("all lanes stand still in the end")
		}
		if n > 0 || t.longLane != nil || t.sending != 0 || t.answeringCallbacks != 0 {
			return fmt.Errorf("there is something left in memory: %d lanes, %d places", n, t.sending+t.answeringCallbacks)
		}
	}
	if leads != 1 {
		return fmt.Errorf("%d instances dispatch at the end", leads)
	}
	return nil
}
