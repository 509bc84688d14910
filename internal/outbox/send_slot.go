package outbox

import (
	"context"
	"errors"
	"time"
)

// maxDirect is how many lanes may be sending for one more to get its place beforehand. Where more are at work, it is better
// to take what there is for many of them out of the store together, and what has gathered in each as one message.
const maxDirect = 3

var errCircuitOpen = errors.New("all lanes stand still")

// Place is the place of a lane among those that send, held for an item that is about to be added to the lane: whoever adds
// it marks it as being sent already, which spares marking it afterwards. One place is held for a lane at a time, and
// nothing else of the lane is sent meanwhile.
type SendSlot struct {
	term  *term
	lane  *lane
	epoch int64
	left  bool // for what is being sent there
}

// reservation is a question for the place of a lane.
type reservation struct {
	lane Lane
	slot chan *SendSlot // gets the answer, at once
}

// leaving is the end of a reservation: what was committed as being sent, or nil.
type leaving struct {
	lane    *lane
	message *Message
}

// Reserve holds the place of a lane that has nothing to be sent, if what is added to it now could be sent at once, and
// returns nil if not. A place has to be given back.
func (d *Dispatcher) Reserve(ctx context.Context, key Lane) *SendSlot {
	d.mu.Lock()
	t := d.term
	d.mu.Unlock()
	if t == nil {
		return nil
	}
	r := reservation{key, make(chan *SendSlot, 1)}
	select {
	case t.reservations <- r:
		return <-r.slot
	case <-t.over:
		return nil
	case <-ctx.Done():
		return nil
	}
}

// Epoch is that of the lease under which the item is to be marked as being sent.
func (p *SendSlot) Epoch() int64 { return p.epoch }

// Send sends what has been committed as being sent. It returns false if the dispatcher is not at work any more; then the
// next one finds it.
func (p *SendSlot) Send(m Message) bool { return p.leave(&m) }

// GiveBack gives the place back, unless something is being sent there. Then that does it.
func (p *SendSlot) Release() { p.leave(nil) }

func (p *SendSlot) leave(m *Message) bool {
	if p.left {
		return false
	}
	p.left = true
	select {
	case p.term.left <- leaving{p.lane, m}:
		return true
	case <-p.term.over:
		return false
	}
}

// reserve answers the question for a place.
func (t *term) reserve(key Lane, now time.Time) *SendSlot {
	if t.stopping || t.sending >= maxDirect || len(t.ready) > 0 || t.breaker.probing || !t.hasSlot(now) || !t.mayBegin() {
		return nil
	}
	l := t.lanes[key]
	switch {
	case l == nil:
		l = t.lane(key, now)
	case l.state == idle && !l.pace.next(now, 0).After(now):
		t.dequeue(l)
	default:
		return nil
	}
	l.woken, l.since = false, now
	t.sending++
	return &SendSlot{term: t, lane: l, epoch: t.lease.Epoch()}
}

// free goes on with a lane whose place was held: it sends what was added, unless all lanes have come to stand still
// meanwhile, or the dispatcher stops. Of what was added otherwise nothing is known.
func (t *term) free(requests context.Context, left leaving, now time.Time) {
	l := left.lane
	switch m := left.message; {
	case m == nil:
		t.release(l)
		t.schedule(l, now)
	case t.stopping:
		t.putBack(l, *m, errStopped, now)
	case t.breaker.probing:
		t.putBack(l, *m, errCircuitOpen, now)
	default:
		t.meter.waited(0)
		t.workers.Go(func() { t.answered <- t.send(requests, l, *m, t.settings.SendTimeout) })
	}
}

// begins has places be reserved from now on.
func (t *term) begins() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.term = t
}

// ends has nobody wait for an answer any more.
func (t *term) ends() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.term = nil
	close(t.over)
}
