package outbox

import (
	"context"
	"math/rand/v2"
	"time"
)

// persistRetryDelay is the pause after a failed batch. Each result and take of that batch waits for
// a random time between one and two times as long.
const persistRetryDelay = 200 * time.Millisecond

// summarizedAtOnce limits how many lanes are summarized before a batch. Further lanes wait for the
// next batch, so that summarizing does not delay the results of requests for long.
const summarizedAtOnce = 4

// storeWriter is the state of writing to the store. Only one batch is written at a time. Meanwhile,
// new results and takes wait for the next batch, which has at most limit entries. After a failure,
// limit is 1, and each success doubles it, up to maxBatch. So a result that cannot be written does
// not hold up the others.
type storeWriter struct {
	persisting bool
	limit      int       // maximum number of results and takes in a batch
	nextAt     time.Time // earliest time of the next batch, after a failure
	failing    bool
}

// persist starts to write the next batch, unless a batch is being written, the pause after a
// failure is not over, or there is nothing to write.
func (t *term) persist(ctx context.Context, now time.Time) {
	w := &t.writer
	if w.persisting || now.Before(w.nextAt) {
		return
	}
	var b batch
	remaining := t.results[:0]
	for _, r := range t.results {
		if len(b.results) < w.limit && !r.persistAt.After(now) {
			b.results, b.outcomes = append(b.results, r), append(b.outcomes, r.Result)
		} else {
			remaining = append(remaining, r)
		}
	}
	clear(t.results[len(remaining):])
	t.results = remaining
	var later []*lane
	for _, l := range t.takes {
		if len(b.takes) == w.limit-len(b.results) || l.summarize && len(b.summarize) == summarizedAtOnce {
			later = append(later, l)
			continue
		}
		l.woken = false
		b.takes, b.lanes = append(b.takes, l), append(b.lanes, l.Lane)
		if l.summarize {
			b.summarize = append(b.summarize, l.Lane)
		}
	}
	t.takes = later
	if len(b.results)+len(b.takes) == 0 {
		return
	}
	w.persisting = true
	t.workers.Go(func() {
		b.err = t.advance(ctx, &b)
		t.persisted <- b
	})
}

// advance calls the store for a batch. It summarizes lanes right before they are taken, because
// they have no request in flight then.
func (t *term) advance(ctx context.Context, b *batch) (err error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	bounds := t.bounds()
	if len(b.summarize) > 0 {
		if b.summarized, err = t.store.Summarize(ctx, t.lease.Epoch(), b.summarize, bounds); err != nil {
			return err
		}
	}
	b.turns, err = t.store.Advance(ctx, t.lease.Epoch(), b.outcomes, b.lanes, bounds)
	return err
}

// bounds returns the configured bounds, with a tenth of MaxWaiting while too many items wait in all
// chats together.
func (t *term) bounds() Bounds {
	bounds := t.settings.Bounds
	if t.overloaded.Load() {
		bounds.MaxWaiting = max(1, bounds.MaxWaiting/10)
	}
	return bounds
}

// onPersisted continues the lanes of a batch, or postpones the whole batch after an error.
func (t *term) onPersisted(requestCtx context.Context, b batch, now time.Time) {
	w := &t.writer
	w.persisting = false
	t.stats.summarized(b.summarized)
	if b.err != nil {
		t.postpone(b, now)
		return
	}
	if w.failing {
		t.log.InfoContext(requestCtx, "delivery results can be persisted again")
	}
	w.failing, w.limit = false, min(2*w.limit, maxBatch)
	for _, r := range b.results {
		t.continueLane(r, now)
	}
	for i, l := range b.takes {
		l.summarize = b.turns[i].Over
		t.startTurn(requestCtx, l, b.turns[i], now)
	}
}

// postpone reschedules the results and takes of a failed batch, and pauses the writing.
func (t *term) postpone(b batch, now time.Time) {
	w := &t.writer
	if !w.failing {
		t.log.Error("failed to persist delivery results, retrying", "error", b.err)
	}
	w.failing, w.limit, w.nextAt = true, 1, now.Add(persistRetryDelay)
	retryTime := func() time.Time { return now.Add(persistRetryDelay + rand.N(persistRetryDelay)) }
	for _, r := range b.results {
		r.persistAt = retryTime()
		t.results = append(t.results, r)
	}
	for _, l := range b.takes {
		t.release(l, now)
		l.notBefore = retryTime()
		t.schedule(l, now)
	}
}

// startTurn sends the message that was taken from a lane, unless the dispatcher is stopping.
// Without a message, the lane waits or becomes idle.
func (t *term) startTurn(requestCtx context.Context, l *lane, turn Turn, now time.Time) {
	t.stats.taken(turn)
	switch m := turn.Message; {
	case m != nil && t.stopping.Load():
		t.onResult(result{lane: l, Result: Result{Message: *m, Failure: &Failure{Kind: Unreachable, Err: errStopped}}}, now)
	case m != nil:
		t.stats.waited(now.Sub(l.readyAt))
		if t.settings.BoardBegins != nil && l.Kind == Boards {
			t.settings.BoardBegins(l.Chat)
		}
		t.workers.Go(func() { t.completed <- t.send(requestCtx, l, *m) })
	case l.woken || turn.Wait > 0:
		t.release(l, now)
		l.notBefore, l.readyAt = now.Add(turn.Wait), time.Time{}
		t.schedule(l, now)
	default:
		t.release(l, now)
		t.makeIdle(l, now)
	}
}

// continueLane schedules a lane after its result was persisted, or makes it idle if it has nothing
// to send or its chat was parked.
func (t *term) continueLane(r result, now time.Time) {
	l, m := r.lane, r.Message
	l.since, l.notBefore, l.readyAt = now, now.Add(r.Pause), time.Time{}
	switch {
	case l.woken:
		// even after Forbidden: the chat may have been unparked since
		t.schedule(l, now)
	case r.Failure != nil && r.Failure.Kind == Forbidden:
		t.makeIdle(l, now)
	case m.More, r.endedItems() < len(m.Items):
		t.schedule(l, now)
	default:
		t.makeIdle(l, now)
	}
}

// endedItems returns how many items of the message need no more requests. The count is an estimate.
// If it is wrong, the lane is taken once in vain, or its items wait until the next poll.
func (r Result) endedItems() int {
	switch {
	case r.Failure == nil || r.Failure.Kind == Uncertain || r.Failure.Kind == Unsupported:
		return r.coveredItems()
	case r.Dead || r.Failure.LeavesLane():
		return 1
	default:
		return 0
	}
}

// CoveredRows returns how many rows of the store the request concerned, counted from the message's
// first row.
func (r Result) CoveredRows() int { return r.Message.storedItems(r.coveredItems()) }

func (r Result) coveredItems() int {
	if r.Covered == 0 {
		return len(r.Message.Items)
	}
	return min(r.Covered, len(r.Message.Items))
}
