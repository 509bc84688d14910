package outbox

import (
	"context"
	"time"
)

// maxDirect is how many lanes may be sending for one more to get its place beforehand. Where more are at work, it is better
// to take what there is for many of them out of the store together, and what has gathered in each as one message.
const maxDirect = 3

// Place is the place of a lane among those that send, held for an item that is about to be added to the lane: whoever adds
// it marks it as being sent already, which spares marking it afterwards. One place is held for a lane at a time, and
// nothing else of the lane is sent meanwhile.
type Place struct {
	tenure *tenure
	lane   *lane
	sent   bool
}

// reservation is a question for the place of a lane.
type reservation struct {
	lane  Lane
	place chan *Place // gets the answer, at once
}

// Reserve holds the place of a lane that has nothing to be sent, if what is added to it now could be sent at once, and
// returns nil if not. A place has to be given back.
func (d *Dispatcher) Reserve(ctx context.Context, key Lane) *Place {
	d.mu.Lock()
	t := d.tenure
	d.mu.Unlock()
	if t == nil {
		return nil
	}
	r := reservation{key, make(chan *Place, 1)}
	select {
	case t.reservations <- r:
		return <-r.place
	case <-t.over:
		return nil
	case <-ctx.Done():
		return nil
	}
}

// Epoch is that of the lease under which the item is to be marked as being sent.
func (p *Place) Epoch() int64 { return p.tenure.lease.Epoch() }

// Send sends what has been committed as being sent, if the dispatcher is at work still. If not, the next one finds it.
func (p *Place) Send(m Message) {
	t := p.tenure
	t.ending.Lock()
	defer t.ending.Unlock()
	select {
	case <-t.over:
		return
	default:
	}
	p.sent = true
	t.meter.waited(0)
	t.workers.Go(func() { t.answered <- t.send(t.requests, p.lane, m) })
}

// GiveBack gives the place back, unless something is being sent there. Then that does it.
func (p *Place) GiveBack() {
	if p.sent {
		return
	}
	select {
	case p.tenure.returned <- p.lane:
	case <-p.tenure.over:
	}
}

// reserve answers the question for a place.
func (t *tenure) reserve(key Lane, now time.Time) *Place {
	if t.sending >= maxDirect || !t.hasPlace(now) || !t.mayBegin() {
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
	return &Place{tenure: t, lane: l}
}

// takeBack goes on with a lane whose place was given back. Something may have been added to it.
func (t *tenure) takeBack(l *lane, now time.Time) {
	t.giveBack(l)
	t.schedule(l, now)
}

// begins has places be reserved from now on.
func (t *tenure) begins() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tenure = t
}

// end lets nobody begin to send any more.
func (t *tenure) end() {
	t.mu.Lock()
	t.tenure = nil
	t.mu.Unlock()
	t.ending.Lock()
	defer t.ending.Unlock()
	close(t.over)
}
