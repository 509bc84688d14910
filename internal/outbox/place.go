package outbox

import (
	"context"
	"errors"
	"time"
)

// maxDirect is how many lanes may be sending for one more to get its place beforehand. Where more are at work, it is better
// to take what there is for many of them out of the store together, and what has gathered in each as one message.
const maxDirect = 3

var errStandstill = errors.New("all lanes stand still")

// Place is the place of a lane among those that send, held for an item that is about to be added to the lane: whoever adds
// it marks it as being sent already, which spares marking it afterwards. One place is held for a lane at a time, and
// nothing else of the lane is sent meanwhile.
type Place struct {
	tenure *tenure
	lane   *lane
	epoch  int64
	left   bool // for what is being sent there
}

// reservation is a question for the place of a lane.
type reservation struct {
	lane  Lane
	place chan *Place // gets the answer, at once
}

// leaving is the end of a reservation: what was committed as being sent, or nil.
type leaving struct {
	lane    *lane
	message *Message
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
func (p *Place) Epoch() int64 { return p.epoch }

// Send sends what has been committed as being sent. It returns false if the dispatcher is not at work any more; then the
// next one finds it.
func (p *Place) Send(m Message) bool { return p.leave(&m) }

// GiveBack gives the place back, unless something is being sent there. Then that does it.
func (p *Place) GiveBack() { p.leave(nil) }

func (p *Place) leave(m *Message) bool {
	if p.left {
		return false
	}
	p.left = true
	select {
	case p.tenure.left <- leaving{p.lane, m}:
		return true
	case <-p.tenure.over:
		return false
	}
}

// reserve answers the question for a place.
func (t *tenure) reserve(key Lane, now time.Time) *Place {
	if t.stopping || t.sending >= maxDirect || len(t.ready) > 0 || t.gate.probing || !t.hasPlace(now) || !t.mayBegin() {
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
	return &Place{tenure: t, lane: l, epoch: t.lease.Epoch()}
}

// free goes on with a lane whose place was held: it sends what was added, unless all lanes have come to stand still
// meanwhile, or the dispatcher stops. Of what was added otherwise nothing is known.
func (t *tenure) free(requests context.Context, left leaving, now time.Time) {
	l := left.lane
	switch m := left.message; {
	case m == nil:
		t.giveBack(l)
		t.schedule(l, now)
	case t.stopping:
		t.putBack(l, *m, errStopped, now)
	case t.gate.probing:
		t.putBack(l, *m, errStandstill, now)
	default:
		t.meter.waited(0)
		t.workers.Go(func() { t.answered <- t.send(requests, l, *m, t.settings.SendTimeout) })
	}
}

// begins has places be reserved from now on.
func (t *tenure) begins() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tenure = t
}

// ends has nobody wait for an answer any more.
func (t *tenure) ends() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tenure = nil
	close(t.over)
}
