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
	// storeTimeout limits each use of the store, so that a hanging connection is noticed.
	storeTimeout = 10 * time.Second
	// finishTimeout is how long persisting the last results may take after the longest request has
	// ended. It is short because a process has about 10 s to stop and must also release the lease.
	finishTimeout = 500 * time.Millisecond
	// maxBatch is the maximum number of results plus lanes in one call to Store.Advance.
	maxBatch = 256
	// leasePoll is how often to check again whether the lease lasts long enough for a request.
	leasePoll = 100 * time.Millisecond
)

// term is the state of a dispatcher under one lease. Only the goroutine of loop uses the lanes and
// the other fields that change, except for the atomic ones. Requests and most calls to the store
// run in separate goroutines, which report back through the channels.
//
// A lane goes through a cycle: onWake or onPolled schedules it, startReady queues it in takes,
// persist takes its message, startTurn starts the request, onResult queues the result, persist
// stores it, and continueLane schedules the lane again or makes it idle.
type term struct {
	*Dispatcher
	lease Lease

	lanes             map[Lane]*lane
	due               laneHeap // idle and paused lanes, earliest due time first
	ready             laneHeap // lanes that may send, highest priority first
	callbackAnswers   laneHeap // ready lanes of answers to buttons
	pace              pace     // of all chats together
	breaker           breaker
	refusals          refusals
	extra             []extraRequest // waiting to begin, longest wait first
	overloaded        atomic.Bool    // too many items wait in all chats together
	unsupportedLogged bool

	stopping           atomic.Bool // no new requests may start
	sending            int         // lanes that hold a send slot, except for answers to buttons
	answeringCallbacks int

	takes   []*lane  // lanes to take a message from
	results []result // to be persisted
	writer  storeWriter

	polled    chan []Backlog
	asked     chan extraRequest
	completed chan result
	persisted chan batch
	workers   sync.WaitGroup // all goroutines except the one of loop and those that run the sender
}

// result is the outcome of a message taken from a lane.
type result struct {
	lane *lane
	Result
	begun     time.Time // when send began; zero if the dispatcher was stopping
	requests  int       // requests that the sender made for the message
	outage    bool      // the failure is part of an outage, although the messenger answered
	persistAt time.Time // earliest time to persist it; zero: at once
}

// batch is the input and the outcome of one call to Store.Advance, and of the call to
// Store.Summarize before it, if there is one.
type batch struct {
	results    []result
	outcomes   []Result // the Result of each of results, in the same order
	takes      []*lane
	lanes      []Lane // the Lane of each of takes, in the same order
	summarize  []Lane // lanes to summarize before they are taken
	turns      []Turn
	summarized Summarized
	err        error
}

func newTerm(d *Dispatcher, lease Lease) *term {
	return &term{
		Dispatcher: d, lease: lease,
		lanes:     make(map[Lane]*lane),
		pace:      pace{windows: d.settings.Limits.Total},
		refusals:  refusals{chats: make(map[string]map[ChatID]bool)},
		writer:    storeWriter{limit: maxBatch},
		polled:    make(chan []Backlog),
		asked:     make(chan extraRequest),
		completed: make(chan result, 2*d.settings.Parallel),
		persisted: make(chan batch, 1),
	}
}

// run polls and surveys the store while loop dispatches.
func (t *term) run(ctx context.Context) error {
	t.stats.dispatching(true)
	defer t.stats.dispatching(false)
	t.acceptWakes(true) // before the first poll, which finds what was committed earlier
	defer t.acceptWakes(false)
	defer t.workers.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	t.workers.Go(func() { t.pollStore(ctx) })
	t.workers.Go(func() { t.survey(ctx) })
	return t.loop(ctx)
}

// loop dispatches until the context ends. It then waits, for a limited time, until the requests in
// flight have ended and their results are persisted. It fails with ErrLeaseLost if the lease is
// lost.
func (t *term) loop(ctx context.Context) error {
	// These contexts outlive ctx. Requests end by their timeouts, and storeCtx ends when the time
	// to stop is over; see stop.
	requestCtx, cancelRequests := context.WithCancel(context.WithoutCancel(ctx))
	storeCtx, cancelStore := context.WithCancel(context.WithoutCancel(ctx))
	defer cancelStore()
	defer cancelRequests()
	if err := t.prepare(ctx); ctx.Err() != nil {
		return nil
	} else if err != nil {
		return err
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	stopSignal := ctx.Done()
	for {
		if ctx.Err() != nil && !t.stopping.Load() {
			stopSignal = nil
			t.stop(cancelStore)
		}
		timer.Reset(t.step(storeCtx, time.Now()))
		if t.stopping.Load() && (!t.isBusy() || storeCtx.Err() != nil) {
			return nil
		}
		select {
		case <-t.signal:
			t.onWake(time.Now())
		case backlogs := <-t.polled:
			t.onPolled(backlogs, time.Now())
		case extra := <-t.asked:
			t.onAsked(extra, time.Now())
		case r := <-t.completed:
			t.onResult(r, time.Now())
		case b := <-t.persisted:
			if errors.Is(b.err, ErrLeaseLost) {
				return b.err
			}
			t.onPersisted(requestCtx, b, time.Now())
		case <-timer.C:
		case <-storeCtx.Done():
		case <-stopSignal:
		}
	}
}

// stop prevents new requests. Requests in flight keep their full timeout, because canceling one
// would make its outcome unknown. After the longest timeout, finishTimeout remains to persist the
// results.
func (t *term) stop(cancelStore func()) {
	t.stopping.Store(true)
	t.acceptWakes(false)
	for _, l := range t.takes {
		t.release(l, time.Now())
	}
	t.takes = nil
	time.AfterFunc(t.settings.timeout(true)+finishTimeout, cancelStore)
}

func (t *term) isBusy() bool {
	return t.sending+t.answeringCallbacks > 0 || t.writer.persisting || len(t.results) > 0
}

// step does everything that is possible at now, and returns the time until more may become
// possible. It computes that time from the same now. If it read the clock again, it could miss what
// becomes possible between the two readings.
func (t *term) step(storeCtx context.Context, now time.Time) time.Duration {
	t.promoteDue(now)
	t.beginExtra(now)
	if !t.stopping.Load() {
		t.startReady(now)
	}
	t.persist(storeCtx, now)
	return time.Until(t.next(now))
}

// next returns the earliest moment at which step may have more to do, at most an hour from now.
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
	if len(t.extra) > 0 {
		sooner(t.pace.next(now, t.sending-len(t.extra)))
		sooner(t.breaker.until)
	}
	if t.ready.first() != nil {
		sooner(t.pace.next(now, t.sending))
		sooner(t.breaker.until)
	}
	if t.mayBeginExtra(now) || t.ready.first() != nil && t.hasSlot(now) ||
		len(t.callbackAnswers) > 0 && t.hasCallbackSlot() {
		sooner(now.Add(leasePoll)) // only the lease prevents a request
	}
	if !t.writer.persisting {
		sooner(t.writer.nextAt)
		for _, r := range t.results {
			sooner(r.persistAt)
		}
	}
	return next
}

// mayBegin reports whether the lease lasts long enough for a request with this timeout: the request
// must end, with a margin, before another instance can take the lease.
func (t *term) mayBegin(timeout time.Duration) bool {
	return t.lease.Remaining() >= timeout+t.settings.SendTimeout/5
}

// prepare puts back items that were set aside as Unsupported, and loads the requests that still
// count against the limits. Nothing may be sent before that. It retries until it succeeds, the
// lease is lost or the context ends.
func (t *term) prepare(ctx context.Context) error {
	backoff := retry.WithCappedDuration(time.Second, retry.NewExponential(100*time.Millisecond))
	failing := false
	return retry.Do(ctx, backoff, func(ctx context.Context) error {
		storeCtx, cancel := context.WithTimeout(ctx, storeTimeout)
		defer cancel()
		err := t.store.Resume(storeCtx, t.lease.Epoch())
		if err == nil {
			err = t.loadRecent(storeCtx)
		}
		if err == nil || errors.Is(err, ErrLeaseLost) {
			return err
		}
		if !failing && ctx.Err() == nil {
			t.log.ErrorContext(ctx, "failed to load recent requests, retrying", "error", err)
		}
		failing = true
		return retry.RetryableError(err)
	})
}

func (t *term) loadRecent(ctx context.Context) error {
	horizon := t.settings.Limits.horizon()
	if horizon == 0 {
		return nil
	}
	requests, err := t.store.Recent(ctx, horizon)
	if err != nil {
		return err
	}
	now := time.Now()
	for _, r := range requests {
		l := t.lane(Lane{Chat: r.Chat}, now)
		l.chat.setLimits(t.settings.Limits.forChat(r.Private))
		t.countRequest(l, now.Add(-r.Age))
	}
	for _, l := range t.lanes {
		t.makeIdle(l, now)
	}
	return nil
}
