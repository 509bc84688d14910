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

// world is the environment in which the instances of a scenario run.
type world struct {
	scenario
	model  *queuemodel.Model
	db     *memory
	hosts  []*host
	counts tally

	mu        sync.Mutex
	faultFree bool             // calls to the store no longer fail, and instances keep running
	requests  map[int64]int    // number of requests, by the id of the first item
	addresses map[ChatID]int64 // the messenger's ids of the chats
	outage    FailureKind      // failure of all requests until the end of the outage
	until     time.Time        // end of the outage
	lastCall  time.Time
	calls     int // calls to the store at lastCall
	errs      []error
}

// host runs one instance at a time.
type host struct {
	instance *instance
	down     bool
	past     []*instance
}

// tally counts the situations that occur in a scenario.
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
		scenario: s, model: queuemodel.New(s.rules(), time.Now), requests: make(map[int64]int),
		addresses: make(map[ChatID]int64),
	}
	w.db = newMemory()
	w.db.model, w.db.counts, w.db.epoch = w.model, &w.counts, 0
	if !s.alone { // polls find the items of a chat once its parking is over
		w.db.parksFor = 30 * time.Second
	}
	for c := range ChatID(6) {
		w.db.private[c], w.addresses[c] = c <= 2, -int64(c)
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
	w.errs = append(w.errs, err)
}

// next removes and returns the next scripted call. It returns a successful call if none is left, or
// if w is free of faults.
func (w *world) next(calls *[]call) call {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(*calls) == 0 || w.faultFree {
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

// checkCallRate reports a dispatcher that calls the store in an endless loop. It then sleeps,
// because the fake clock would not advance during an endless loop.
func (w *world) checkCallRate() {
	const maxCalls = 500
	w.mu.Lock()
	if now := time.Now(); !w.lastCall.Equal(now) {
		w.lastCall, w.calls = now, 0
	}
	w.calls++
	tooMany := w.calls > maxCalls
	w.mu.Unlock()
	if tooMany {
		w.fail(fmt.Errorf("the store is called %d times at the same time", maxCalls))
		_ = sleep(context.Background(), time.Minute)
	}
}

// fate returns the outcome of the next request for a message. An outage, an old id of the chat, or
// an unknown message to edit overrides the script. The last outcome of the script always comes
// within the timeout.
func (w *world) fate(m Message) fate {
	w.mu.Lock()
	defer w.mu.Unlock()
	if time.Now().Before(w.until) {
		return fate{class: w.outage, lasts: 90 * time.Millisecond, arrives: 50, wait: time.Second}
	}
	fates := w.db.row(m.Row.ID).script.fates
	f := fates[min(w.requests[m.Row.ID], len(fates)-1)]
	if w.requests[m.Row.ID]++; w.requests[m.Row.ID] >= len(fates) {
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
	if m.ExternalChat != w.addresses[chat] && m.Lane.Kind != CallbackAnswers {
		f.class, f.newID, f.notAttempted = Migrated, w.addresses[chat], false
	}
	if m.Action == Edit && m.Target == 0 {
		f.class, f.notAttempted = Obsolete, true
	}
	return f
}

func (w *world) countOutcome(m Message, covered int, class FailureKind, f fate) {
	w.counts.add("an answer: " + string(class))
	for what, is := range map[string]bool{
		"several items in a message":             class == "" && m.Action == Send && covered > 1,
		"items that did not fit":                 covered < len(m.Items) && m.Action == Send,
		"a delivered message of unknown outcome": class == Ambiguous && f.delivered,
		"a lost message of unknown outcome":      class == Ambiguous && !f.delivered,
		"a panic":                                class == Failed && f.panics,
		"a sender that did not return":           f.hangs > 0,
		"a merged message of unknown outcome":    class == Ambiguous && covered > 1,
		"an edit":                                class == "" && m.Action == Edit,
		"a page":                                 class == "" && m.Action == Page,
		"a long rate limit":                      class == RateLimited && f.wait > 10*time.Minute,
	} {
		if is {
			w.counts.add(what)
		}
	}
}

func (w *world) apply(e event) {
	switch e.kind {
	case "":
		w.put(e)
		return
	case unparkAll:
		w.wake(w.db.unparkAll()...)
		w.reportNewIDs()
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
	if e.kind == add {
		i.trap(e.moment, e.nth, func() { w.put(e) })
		return
	}
	i.trap(e.moment, e.nth, func() { w.disrupt(h, i, e) })
	if e.moment == whenStarted {
		leading, leader := w.host(false)
		leader.trap(whenAnswered, 2, func() { w.disrupt(leading, leader, e) })
	}
	if e.kind != isolate {
		w.put(e)
	}
}

// put adds the items of an event to the queue, and wakes lanes as the event says.
func (w *world) put(e event) {
	var lanes []Lane
	for _, a := range e.adds {
		w.db.script(a)
		lanes = append(lanes, a.lane())
	}
	if e.wake {
		w.wake(lanes...)
	}
	if e.strayWake {
		w.wake(Lane{Chat: 1}, Lane{Chat: 2}, Lane{Chat: 3}, Lane{Chat: 4}, Lane{Chat: 5},
			Lane{Chat: 5, Kind: CallbackAnswers}, Lane{Chat: 5, Kind: Pages})
	}
}

// host returns an instance and its host: the first instance that dispatches or, if other is set,
// the first that does not. If there is none, it returns the first of all instances.
func (w *world) host(other bool) (*host, *instance) {
	all := w.instances()
	for n, i := range all {
		if i.leads() != other {
			return w.hosts[n], i
		}
	}
	return w.hosts[0], all[0]
}

// disrupt applies an event to an instance, unless the instance is gone or the faults are over.
func (w *world) disrupt(h *host, i *instance, e event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if h.down || h.instance != i || w.faultFree {
		return
	}
	switch e.kind {
	case stop:
		h.down = true
		go func() {
			i.stop()
			_ = sleep(context.Background(), e.lasts)
			w.restart(h)
		}()
	case kill:
		h.down = true
		i.kill()
		go func() {
			_ = sleep(context.Background(), e.lasts)
			w.restart(h)
		}()
	case freeze:
		i.freeze(e.lasts)
	case isolate:
		left := i.isolate(time.Minute)
		go func() {
			_ = sleep(context.Background(), left-e.beforeExpiry)
			w.put(e)
		}()
	}
}

func (w *world) restart(h *host) {
	i := w.start()
	w.mu.Lock()
	defer w.mu.Unlock()
	h.instance, h.down = i, false
	h.past = append(h.past, i)
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

// reportNewIDs stores the new ids of chats, as another part of the bot would, unless ChatMigrated
// does so.
func (w *world) reportNewIDs() {
	if !w.hasMovedHook {
		w.mu.Lock()
		addresses := maps.Clone(w.addresses)
		w.mu.Unlock()
		for c, to := range addresses {
			w.db.move(c, to)
		}
	}
}

// drain waits until nothing is left to send, at most about four hours. Meanwhile it reports new ids
// of chats. Without polls, it also unparks all chats every ten seconds.
func (w *world) drain() {
	const interval, rounds = 10 * time.Second, 1500
	for range rounds {
		_ = sleep(context.Background(), interval)
		w.reportNewIDs()
		if w.alone {
			w.wake(w.db.unparkAll()...)
		}
		if w.db.open() == 0 {
			return
		}
	}
}

// checkIdle checks that exactly one instance dispatches, that it keeps nothing in memory, and that
// its circuit is closed.
func (w *world) checkIdle() error {
	leads := 0
	for _, i := range w.instances() {
		t := i.term
		if t == nil {
			continue
		}
		leads++
		n := len(t.lanes) + len(t.due) + len(t.ready) + len(t.callbackAnswers) + len(t.takes) + len(t.results)
		if t.breaker.open {
			return errors.New("the circuit is still open at the end")
		}
		if n > 0 || t.sending != 0 || t.answeringCallbacks != 0 {
			return fmt.Errorf("left in memory: %d lanes, %d send slots", n, t.sending+t.answeringCallbacks)
		}
	}
	if leads != 1 {
		return fmt.Errorf("%d instances dispatch at the end", leads)
	}
	return nil
}
