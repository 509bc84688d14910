package outbox

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sethvargo/go-retry"
)

const (
	// askTimeout bounds what is asked of the store, so that a connection that hangs is noticed.
	askTimeout = 10 * time.Second
	// finishTimeout is how long writing down the last results may take when the dispatcher is being stopped and all
	// requests have ended.
	finishTimeout = time.Second
	// maxBatch is how many results and lanes go to the store at once.
	maxBatch = 256
	// leaseLook is how often a lease that is about to end is looked at again.
	leaseLook = 100 * time.Millisecond
)

// tenure is what a dispatcher does with one lease. One goroutine, that of run, owns everything here; what takes time,
// which is asking the store and sending, runs in goroutines of its own and reports back.
type term struct {
	*Dispatcher
	lease Lease

	lanes           map[Lane]*lane
	due             lanes // idle and waiting lanes, by when they are to be looked at again
	patient         int   // how many of them are waiting
	ready           lanes // lanes that may send, the one that comes first first
	slow            lanes // likewise, whose next request may take longer
	callbackAnswers lanes // likewise, of answers to buttons
	long            *lane // whose request may take longer than others; nil: there is none
	away            int   // lanes that wait for their time and are not in memory
	pace            pace  // of all lanes together
	breaker         breaker
	crowded         atomic.Bool // too much waits in all

	stopping           bool // no request is begun any more
	sending            int  // lanes that have a place among those that send at the same time, but for the toasts
	answeringCallbacks int

	takes   []*lane  // lanes that are to be asked for what they have
	results []result // that are to be written down
	journal journal

	found        chan []Backlog
	answered     chan result
	written      chan entry
	reservations chan reservation
	left         chan leaving
	over         chan struct{}  // closed at the end
	workers      sync.WaitGroup // the goroutines that ask the store and send
}

// result is what came of a request of a lane.
type result struct {
	lane *lane
	Result
	attempted bool      // there was a request at all
	slow      bool      // it took all the time that a request usually gets
	writeAt   time.Time // it is written down from this moment on
}

// entry is one step of the journal: what is written down and what is asked for, and what has come of it.
type entry struct {
	results []result
	takes   []*lane
	turns   []Turn
	err     error
}

func newTerm(d *Dispatcher, lease Lease) *term {
	return &term{
		Dispatcher: d, lease: lease,
		lanes:    make(map[Lane]*lane),
		pace:     pace{windows: d.settings.Limits.Total},
		journal:  journal{limit: maxBatch},
		found:    make(chan []Backlog),
		answered: make(chan result, 2*d.settings.Parallel),
		written:  make(chan entry, 1),

		reservations: make(chan reservation),
		left:         make(chan leaving),
		over:         make(chan struct{}),
	}
}

// run dispatches until the context ends, and then finishes what is under way.
func (t *term) run(ctx context.Context) error {
	// requests are cut off when they have had their time, and what is said to the store a little later
	requests, abort := context.WithCancel(context.WithoutCancel(ctx))
	store, leave := context.WithCancel(context.WithoutCancel(ctx))
	defer t.workers.Wait()
	defer leave()
	defer abort()
	defer t.ends()
	if !t.remember(ctx) {
		return nil
	}
	t.begins()
	timer := time.NewTimer(0)
	defer timer.Stop()
	ended := ctx.Done()
	for {
		if ctx.Err() != nil && !t.stopping {
			ended = nil
			t.stop(abort, leave)
		}
		timer.Reset(t.step(store, time.Now()))
		if t.stopping && (!t.isBusy() || store.Err() != nil) {
			return nil
		}
		select {
		case <-t.signal:
			t.wake(time.Now())
		case backlogs := <-t.found:
			t.discover(backlogs, time.Now())
		case r := <-t.reservations:
			r.slot <- t.reserve(r.lane, time.Now())
		case left := <-t.left:
			t.free(requests, left, time.Now())
		case r := <-t.answered:
			t.onResult(r, time.Now())
		case e := <-t.written:
			if errors.Is(e.err, ErrLeaseLost) {
				return e.err
			}
			t.onPersisted(requests, e, time.Now())
		case <-timer.C:
		case <-store.Done():
		case <-ended:
		}
	}
}

// stop begins no new requests. Those that are under way get the time that every request gets, so that none is
// cut off that would have been answered, and the results a moment to be written down.
func (t *term) stop(abort, leave func()) {
	t.stopping = true
	t.listen(false)
	for _, l := range t.takes {
		t.release(l)
	}
	t.takes = nil
	time.AfterFunc(t.settings.SendTimeout, abort)
	time.AfterFunc(t.settings.SendTimeout+hangFor+finishTimeout, leave)
}

// isBusy tells whether anything is under way that has to be waited for.
func (t *term) isBusy() bool {
	return t.sending+t.answeringCallbacks > 0 || t.journal.writing || len(t.results) > 0
}

// step does what can be done at once, and returns how long it is until there is more. Both look at the same moment, so
// that nothing falls between them.
func (t *term) step(store context.Context, now time.Time) time.Duration {
	t.promoteDue(now)
	if !t.stopping {
		t.startReady(now)
	}
	t.write(store, now)
	return time.Until(t.next(now))
}

// next returns the moment from which on something can be done that cannot be done now.
func (t *term) next(now time.Time) time.Time {
	next := now.Add(time.Hour)
	sooner := func(at time.Time) {
		if at.After(now) && at.Before(next) {
			next = at
		}
	}
	if l := t.due.first(); l != nil {
		sooner(l.order)
	}
	if t.first() != nil {
		sooner(t.pace.next(now, t.sending))
		sooner(t.breaker.until)
	}
	if t.first() != nil && t.hasSlot(now) || len(t.callbackAnswers) > 0 && t.hasCallbackSlot() {
		sooner(now.Add(leaseLook)) // only the lease keeps them from beginning
	}
	if !t.journal.writing {
		sooner(t.journal.retryAt)
		for _, r := range t.results {
			sooner(r.writeAt)
		}
	}
	return next
}

// mayBegin tells whether the lease lasts for a request. It ends before somebody else can have the lease, with time to
// spare.
func (t *term) mayBegin() bool { return t.spare() >= t.settings.SendTimeout }

// spare returns for how long requests may still be under way if nobody renews the lease.
func (t *term) spare() time.Duration { return t.lease.Left() - t.settings.SendTimeout/5 }

// remember learns of the requests that count against the limits still. Without them nothing may be sent: it returns
// false if the context ends before.
func (t *term) remember(ctx context.Context) bool {
	horizon := t.settings.Limits.horizon()
	if horizon == 0 {
		return true
	}
	backoff := retry.WithCappedDuration(time.Second, retry.NewExponential(100*time.Millisecond))
	failing := false
	err := retry.Do(ctx, backoff, func(ctx context.Context) error {
		asking, cancel := context.WithTimeout(ctx, askTimeout)
		defer cancel()
		requests, err := t.store.Recent(asking, horizon)
		if err != nil {
			if !failing && ctx.Err() == nil {
				t.log.ErrorContext(ctx, "cannot find out what was sent lately, trying again", "error", err)
			}
			failing = true
			return retry.RetryableError(err)
		}
		now := time.Now()
		for _, r := range requests {
			l := t.lane(Lane{Chat: r.Chat}, now)
			l.pace.windows = t.settings.Limits.of(r.Private)
			l.pace.add(now.Add(-r.Age))
			t.pace.add(now.Add(-r.Age))
		}
		for _, l := range t.lanes {
			t.rest(l, now)
		}
		return nil
	})
	return err == nil
}
