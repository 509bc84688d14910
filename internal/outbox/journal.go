package outbox

import (
	"context"
	"math/rand/v2"
	"time"
)

// rewriteAfter is how long the journal stands still after a failure, and at the least how long until what has failed is
// tried again.
const rewriteAfter = 200 * time.Millisecond

// journal is how writing to the store goes on: one step at a time, of everything that has come up during the last one.
// After a failure the steps are small again, so that what cannot be written holds up nothing else.
type journal struct {
	writing bool
	limit   int       // how much is written in one step
	retryAt time.Time // nothing is written before
	failing bool
}

// write begins the next step of the journal.
func (t *term) write(ctx context.Context, now time.Time) {
	j := &t.journal
	if j.writing || now.Before(j.retryAt) {
		return
	}
	var e entry
	later := t.results[:0]
	for _, r := range t.results {
		if len(e.results) < j.limit && !r.writeAt.After(now) {
			e.results = append(e.results, r)
		} else {
			later = append(later, r)
		}
	}
	clear(t.results[len(later):])
	t.results = later
	n := min(len(t.takes), j.limit-len(e.results))
	e.takes, t.takes = t.takes[:n:n], t.takes[n:]
	if len(e.results)+len(e.takes) == 0 {
		return
	}
	for _, l := range e.takes {
		l.woken = false
	}
	bounds := t.settings.Bounds
	if t.crowded.Load() {
		bounds.Waiting = max(1, bounds.Waiting/10)
	}
	j.writing = true
	t.workers.Go(func() {
		e.turns, e.err = t.advance(ctx, e, bounds)
		t.written <- e
	})
}

func (t *term) advance(ctx context.Context, e entry, bounds Bounds) ([]Turn, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	results := make([]Result, len(e.results))
	for i, r := range e.results {
		results[i] = r.Result
	}
	taken := make([]Lane, len(e.takes))
	for i, l := range e.takes {
		taken[i] = l.Lane
	}
	return t.store.Advance(ctx, t.lease.Epoch(), results, taken, bounds)
}

// settle goes on with the lanes of a step of the journal.
func (t *term) onPersisted(requests context.Context, e entry, now time.Time) {
	j := &t.journal
	j.writing = false
	if e.err != nil {
		t.postpone(e, now)
		return
	}
	if j.failing {
		t.log.InfoContext(requests, "what becomes of notices can be written down again")
	}
	j.failing, j.limit = false, min(2*j.limit, maxBatch)
	for _, r := range e.results {
		t.proceed(r, now)
	}
	turns := make(map[Lane]Turn, len(e.turns))
	for _, turn := range e.turns {
		turns[turn.Lane] = turn
	}
	for _, l := range e.takes {
		t.begin(requests, l, turns[l.Lane], now)
	}
}

// postpone puts back what could not be written down or asked for.
func (t *term) postpone(e entry, now time.Time) {
	j := &t.journal
	if !j.failing {
		t.log.Error("cannot write down what becomes of notices, trying again", "error", e.err)
	}
	j.failing, j.limit, j.retryAt = true, 1, now.Add(rewriteAfter)
	again := func() time.Time { return now.Add(rewriteAfter + rand.N(rewriteAfter)) }
	for _, r := range e.results {
		r.writeAt = again()
		t.results = append(t.results, r)
	}
	for _, l := range e.takes {
		t.release(l)
		l.notBefore = again()
		t.schedule(l, now)
	}
}

// begin goes on with a lane that was asked for what it has.
func (t *term) begin(requests context.Context, l *lane, turn Turn, now time.Time) {
	t.meter.took(turn)
	switch m := turn.Message; {
	case m != nil && t.stopping:
		t.putBack(l, *m, errStopped, now)
	case m != nil:
		t.meter.waited(now.Sub(l.readyAt))
		timeout := t.timeout(l, *m)
		t.workers.Go(func() { t.answered <- t.send(requests, l, *m, timeout) })
	case l.woken || turn.Wait > 0:
		t.release(l)
		l.notBefore, l.readyAt = now.Add(turn.Wait), time.Time{}
		t.schedule(l, now)
	default:
		t.release(l)
		t.rest(l, now)
	}
}

// putBack returns a message that was marked as sending but not sent.
func (t *term) putBack(l *lane, m Message, why error, now time.Time) {
	t.onResult(result{lane: l, Result: Result{Message: m, Failure: &Failure{Class: Unreachable, NotAttempted: true, Err: why}}}, now)
}

// proceed goes on with a lane whose last result has been written down.
func (t *term) proceed(r result, now time.Time) {
	l, m := r.lane, r.Message
	l.since, l.notBefore, l.readyAt = now, now.Add(r.Pause), time.Time{}
	switch {
	case l.woken:
		t.schedule(l, now) // also when the chat is gone: it may have been heard of since
	case r.Failure != nil && r.Failure.Class == Forbidden:
		t.rest(l, now)
	case m.More, r.ended() < m.Count:
		t.schedule(l, now)
	default:
		t.rest(l, now)
	}
}

// ended returns about how many items of a message nothing more has to be done.
func (r Result) ended() int {
	switch {
	case r.Failure == nil || r.Failure.Class == Uncertain:
		return r.covered()
	case r.Dead || r.Failure.ends():
		return 1
	default:
		return 0
	}
}

// told returns how many items a result is about.
func (r Result) covered() int {
	if r.Covered == 0 {
		return r.Message.Count
	}
	return min(r.Covered, r.Message.Count)
}
