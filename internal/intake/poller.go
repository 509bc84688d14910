package intake

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/sethvargo/go-retry"
)

const (
	// maxInProgress is how many updates can be in progress at the same time. A Poller cannot exceed
	// it, because a poll returns at most the first 100 unconfirmed updates.
	maxInProgress = 100
	longPoll      = 50 * time.Second
	// reaskAfter is how long the poller waits before it asks for the same offset again, to get
	// updates behind those in progress. Telegram returns at most one update if the same offset is
	// requested again within half a second.
	reaskAfter = 600 * time.Millisecond
	// finishTimeout is how long a stopping poller waits for the updates in progress.
	finishTimeout = 3 * time.Second
	// confirmTimeout limits the last request of a stopping poller.
	confirmTimeout = time.Second
)

// Poller receives updates by long polling.
type Poller struct {
	source   Source
	worker   *Worker
	lanes    *lanes
	handlers sync.WaitGroup
	done     chan *pending // persisted updates

	offset int64
	dated  time.Time // the date of the last dated update
	// queue holds the updates in progress, and the persisted updates behind them, in the order of
	// arrival. The queue is short enough for a linear search.
	queue []*pending
}

type pending struct {
	update Update
	done   bool
}

// NewPoller returns a poller that passes the updates of the source to the worker.
func NewPoller(source Source, worker *Worker) *Poller {
	return &Poller{source: source, worker: worker, lanes: newLanes(), done: make(chan *pending, maxInProgress)}
}

// Run receives updates until the context ends. Then it waits up to finishTimeout for the updates in
// progress, confirms the updates before the first that is not persisted, and returns nil. It
// returns an error only if a retry is pointless.
func (p *Poller) Run(ctx context.Context) error {
	work, abort := context.WithCancel(context.WithoutCancel(ctx))
	defer p.handlers.Wait()
	defer abort()
	var failures retry.Backoff
	for ctx.Err() == nil {
		askedAt, offset := time.Now(), p.offset
		wait := longPoll
		if len(p.queue) > 0 { // the messenger answers immediately anyway
			wait = 0
		}
		updates, err := p.source.Updates(ctx, offset, wait)
		if err != nil && ctx.Err() == nil {
			if failures == nil {
				failures = retry.WithJitterPercent(30,
					retry.WithCappedDuration(20*time.Second, retry.NewExponential(500*time.Millisecond)))
			}
			if err := p.pause(ctx, err, failures); err != nil {
				return err
			}
			continue
		}
		failures = nil
		p.accept(work, p.date(updates))
		// Poll again after reaskAfter, or earlier once nothing is in progress, but never request
		// the same offset twice within reaskAfter.
		p.awaitPersisted(ctx, time.Now().Add(reaskAfter), func() bool {
			return len(p.queue) == 0 && (p.offset != offset || time.Since(askedAt) >= reaskAfter)
		})
	}
	p.finish(ctx)
	return nil
}

// pause waits after a failed poll, or returns the error if it is fatal.
func (p *Poller) pause(ctx context.Context, err error, failures retry.Backoff) error {
	wait, _ := failures.Next() // the backoff never stops
	wait = max(wait, reaskAfter)
	if sourceErr, ok := errors.AsType[*SourceError](err); ok {
		if sourceErr.Fatal {
			return fmt.Errorf("receive updates: %w", err)
		}
		wait = max(wait, sourceErr.RetryAfter)
	}
	p.worker.log.WarnContext(ctx, "failed to receive updates, retrying", "wait_ms", wait.Milliseconds(), "error", err)
	p.awaitPersisted(ctx, time.Now().Add(wait), func() bool { return false })
	return nil
}

// date dates the updates of a batch that have no date. Updates arrive in the order in which they
// were sent, across all lanes. So an undated update was sent no earlier than the dated update
// before it, and no later than the dated update after it or its own receipt. It gets the latest of
// these possible dates. More updates may follow a full batch, so undated updates at its end are
// left to a later batch, unless the batch has no dated update at all.
func (p *Poller) date(updates []Update) []Update {
	isDated := func(u Update) bool { return !u.SentAt.IsZero() }
	if len(updates) == maxInProgress && slices.ContainsFunc(updates, isDated) {
		for !isDated(updates[len(updates)-1]) {
			updates = updates[:len(updates)-1]
		}
	}
	received := p.worker.now()
	for i, u := range updates {
		if isDated(u) {
			p.dated = u.SentAt
			continue
		}
		u.SentAt = received
		if next := slices.IndexFunc(updates[i:], isDated); next > 0 && updates[i+next].SentAt.Before(received) {
			u.SentAt = updates[i+next].SentAt
		}
		if u.SentAt.Before(p.dated) {
			u.SentAt = p.dated
		}
		updates[i] = u
	}
	return updates
}

// accept puts new updates into their lanes. It skips those in the queue, which the messenger
// returns until they are confirmed.
func (p *Poller) accept(ctx context.Context, updates []Update) {
	for _, u := range updates {
		if slices.ContainsFunc(p.queue, func(t *pending) bool { return t.update.ID == u.ID }) {
			continue
		}
		t := &pending{update: u}
		p.queue = append(p.queue, t)
		turn, leave := p.lanes.join(u.Lane)
		p.handlers.Go(func() {
			defer leave()
			if !awaitTurn(ctx, turn) || p.worker.persist(ctx, u, true) != nil {
				return // the update stays unconfirmed
			}
			select {
			case p.done <- t:
			case <-ctx.Done():
			}
		})
	}
}

// awaitPersisted marks updates as done and advances the offset as updates are persisted, until
// enough returns true, the time is up, or the context ends.
func (p *Poller) awaitPersisted(ctx context.Context, until time.Time, enough func() bool) {
	late := time.After(time.Until(until))
	for !enough() {
		select {
		case t := <-p.done:
			t.done = true
			p.advance()
		case <-late:
			return
		case <-ctx.Done():
			return
		}
	}
}

// advance moves the offset past all persisted updates up to the first gap. It follows the order of
// arrival instead of the ids, because ids may restart at a lower number.
func (p *Poller) advance() {
	for len(p.queue) > 0 && p.queue[0].done {
		p.offset = p.queue[0].update.ID + 1
		p.queue = p.queue[1:]
	}
}

// finish waits for the updates in progress, and confirms those before the first that is not
// persisted. The messenger redelivers all other updates. A redelivered update that was already
// persisted has no second effect.
func (p *Poller) finish(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
	defer cancel()
	p.awaitPersisted(ctx, time.Now().Add(finishTimeout), func() bool { return len(p.queue) == 0 })
	if p.offset == 0 {
		return
	}
	ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), confirmTimeout)
	defer cancel()
	if err := p.source.Confirm(ctx, p.offset); err != nil {
		p.worker.log.WarnContext(ctx, "failed to confirm the last updates, they will be redelivered", "error", err)
	}
}
