package outbox

import (
	"context"
	"errors"
	"time"
)

// maxDirectSends is how many lanes may be sending before no more slots are reserved. With more, it is cheaper to take the
// items of many lanes from the store at once, merged into one message for each lane.
const maxDirectSends = 3

var errCircuitOpen = errors.New("the circuit is open")

// SendSlot is a send slot held for an item that is about to be added to the lane. The writer of the item (the store, for
// the notices of commands) stores it as already sending, which saves marking it later. Only one slot is held for a lane at a time, and the lane sends nothing
// else until it is released.
type SendSlot struct {
	term  *term
	lane  *lane
	epoch int64
	used  bool // by Send or Release
}

// reservation is a request for the slot of a lane.
type reservation struct {
	lane Lane
	slot chan *SendSlot // receives the slot, or nil, immediately
}

// slotRelease ends a reservation. The message is the one committed as sending, or nil.
type slotRelease struct {
	lane    *lane
	message *Message
}

// Reserve holds a send slot of an idle lane, if an item added now could be sent immediately. Otherwise it returns nil.
// Every slot must be released.
func (d *Dispatcher) Reserve(ctx context.Context, key Lane) *SendSlot {
	d.mu.Lock()
	t := d.current
	d.mu.Unlock()
	if t == nil {
		return nil
	}
	r := reservation{key, make(chan *SendSlot, 1)}
	select {
	case t.reservations <- r:
		return <-r.slot
	case <-t.closed:
		return nil
	case <-ctx.Done():
		return nil
	}
}

// Epoch returns the epoch of the lease under which the item must be marked as sending.
func (p *SendSlot) Epoch() int64 { return p.epoch }

// Send sends a message that has been committed as sending. It returns false if the dispatcher has stopped; the next
// leader then finds the message in the store.
func (p *SendSlot) Send(m Message) bool { return p.finish(&m) }

// Release frees the slot. After Send it does nothing: the slot is freed when the request ends.
func (p *SendSlot) Release() { p.finish(nil) }

func (p *SendSlot) finish(m *Message) bool {
	if p.used {
		return false
	}
	p.used = true
	select {
	case p.term.released <- slotRelease{p.lane, m}:
		return true
	case <-p.term.closed:
		return false
	}
}

// reserve answers a reservation; nil if no slot is available.
func (t *term) reserve(key Lane, now time.Time) *SendSlot {
	if t.stopping || t.sending >= maxDirectSends || len(t.ready) > 0 || t.breaker.open || !t.hasSlot(now) || !t.mayBegin() {
		return nil
	}
	l := t.lanes[key]
	switch {
	case l == nil:
		l = t.lane(key, now)
	case l.state == idle:
		t.dequeue(l)
	default:
		return nil
	}
	if t.mayRequest(l, now).After(now) {
		t.makeIdle(l, now)
		return nil
	}
	l.woken, l.since = false, now
	t.claim(l)
	return &SendSlot{term: t, lane: l, epoch: t.lease.Epoch()}
}

// onSlotReleased continues a lane whose slot was held. It sends the message, unless the circuit has opened or the
// dispatcher is stopping. Without a message the lane is scheduled, because items may have been added to it.
func (t *term) onSlotReleased(requestCtx context.Context, release slotRelease, now time.Time) {
	l := release.lane
	switch m := release.message; {
	case m == nil:
		t.release(l, now)
		t.schedule(l, now)
	case t.stopping:
		t.putBack(l, *m, errStopped, now)
	case t.breaker.open:
		t.putBack(l, *m, errCircuitOpen, now)
	default:
		t.stats.waited(0)
		t.workers.Go(func() { t.completed <- t.send(requestCtx, l, *m, t.settings.SendTimeout) })
	}
}

// openSlots accepts reservations from now on.
func (t *term) openSlots() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.current = t
}

// closeSlots accepts no more reservations and unblocks those that wait for an answer.
func (t *term) closeSlots() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.current = nil
	close(t.closed)
}
