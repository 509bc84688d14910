package intake

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sethvargo/go-retry"
)

const (
	// maxInHand is how many updates there can be at the same time: what Telegram shows of the unconfirmed ones, and how
	// many connections it opens to a webhook.
	maxInHand = 100
	longPoll  = 50 * time.Second
	// reaskAfter is how long a poll waits before it asks for the same offset again, for updates beside those in hand.
	// Telegram answers the same offset badly when it is asked more often than each half second.
	reaskAfter = 600 * time.Millisecond
	// finishWithin is how long a poller that stops waits for what is in hand.
	finishWithin = 3 * time.Second
	// confirmWithin bounds the last request of a poller that stops.
	confirmWithin = time.Second
)

// Poller takes updates by long polling.
type Poller struct {
	source Source
	worker *Worker
	lanes  *lanes
	all    sync.WaitGroup
	done   chan int64 // the ids of updates that are done with

	offset int64
	queue  []*taken         // in hand, in the order in which they came
	inHand map[int64]*taken // the same, by update id

	afterCrash bool // as long as it is not known what was in hand
	oneAlone   bool // is all that was shown after the crash
	suspects   int  // how many at the head of the queue may have ended the process before
}

// taken is an update in hand.
type taken struct {
	update Update
	done   bool
}

// NewPoller returns a poller that takes updates from the source and hands them to the worker.
func NewPoller(source Source, worker *Worker) *Poller {
	return &Poller{
		source: source,
		worker: worker,
		lanes:  newLanes(),
		done:   make(chan int64, maxInHand),
		inHand: make(map[int64]*taken),
	}
}

// AfterCrash tells the poller, before it runs, that its predecessor crashed. One of the updates in hand may have caused
// that, and all of those are among the first that the messenger shows. Until these are done, updates are handled one at a
// time.
func (p *Poller) AfterCrash() { p.afterCrash = true }

// Run takes updates until the context ends. Then it finishes what is in hand, within a few seconds, confirms it and
// returns nil. Any other end is an error that no repetition would mend.
func (p *Poller) Run(ctx context.Context) error {
	work, abort := context.WithCancel(context.WithoutCancel(ctx))
	defer p.all.Wait()
	defer abort()
	// who had to be careful before, and has lost the right to poll meanwhile, has not finished with that
	p.afterCrash = p.afterCrash || p.worker.Careful()
	p.worker.SetCareful(p.afterCrash)
	var failures retry.Backoff
	for ; ctx.Err() == nil; p.rest(ctx) {
		asked, offset := time.Now(), p.offset
		updates, err := p.source.Updates(ctx, p.offset, p.patience())
		if err != nil && ctx.Err() == nil {
			if failures == nil {
				failures = retry.WithJitterPercent(30, retry.WithCappedDuration(20*time.Second, retry.NewExponential(500*time.Millisecond)))
			}
			if err := p.pause(ctx, err, failures); err != nil {
				return err
			}
			continue
		}
		failures = nil
		p.accept(work, updates)
		if p.afterCrash && ctx.Err() == nil { // else nobody has shown what was in hand
			p.suspect(len(updates))
		}
		p.onPersisted(ctx, time.Now().Add(reaskAfter), func() bool {
			return len(p.queue) == 0 && (p.offset != offset || time.Since(asked) >= reaskAfter)
		})
	}
	p.finish(ctx)
	return nil
}

// suspect takes note of what was in hand when the predecessor crashed, which is all that is in hand now. Where that had
// asked a moment before, the messenger shows one update alone, whatever is behind it.
func (p *Poller) suspect(shown int) {
	if p.oneAlone = shown == 1 && !p.oneAlone; p.oneAlone {
		return
	}
	p.afterCrash, p.suspects = false, len(p.queue)
	p.worker.SetCareful(p.suspects > 0)
}

// patience is how long a poll may wait. With updates in hand the messenger answers at once anyway.
func (p *Poller) patience() time.Duration {
	if len(p.queue) > 0 || p.oneAlone {
		return 0
	}
	return longPoll
}

// pause waits after a failed poll, or returns the error if it is fatal.
func (p *Poller) pause(ctx context.Context, err error, failures retry.Backoff) error {
	wait, _ := failures.Next() // it never says stop
	wait = max(wait, reaskAfter)
	var known *SourceError
	if errors.As(err, &known) {
		if known.Fatal {
			return fmt.Errorf("take updates: %w", err)
		}
		wait = max(wait, known.RetryAfter)
	}
	p.worker.log.WarnContext(ctx, "cannot take updates, trying again", "wait_ms", wait.Milliseconds(), "error", err)
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		select {
		case id := <-p.done:
			p.markDone(id)
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

// accept puts new updates into their lanes. Those that are in hand already come again as long as they are not
// confirmed.
func (p *Poller) accept(ctx context.Context, updates []Update) {
	for _, u := range updates {
		if _, ok := p.inHand[u.ID]; ok {
			continue
		}
		t := &taken{update: u}
		p.inHand[u.ID] = t
		p.queue = append(p.queue, t)
		ticket := p.lanes.join(u.Lane)
		p.all.Go(func() {
			defer ticket.leave()
			p.bring(ctx, u, ticket)
		})
	}
}

// bring brings an update to its end when its turn has come. When the context ends before, it stays undone.
func (p *Poller) bring(ctx context.Context, u Update, ticket *ticket) {
	if !ticket.wait(ctx) || !p.worker.persist(ctx, u) {
		return
	}
	select {
	case p.done <- u.ID:
	case <-ctx.Done():
	}
}

// rest waits while the database is away, so that everything else stays with the messenger. What is in hand finds out
// when it is back; with nothing in hand nobody would.
func (p *Poller) rest(ctx context.Context) {
	back := p.worker.database.back()
	for len(p.queue) > 0 {
		select {
		case <-back:
			return
		case id := <-p.done:
			p.markDone(id)
		case <-ctx.Done():
			return
		}
	}
}

// settle takes note of what is done, until it is enough or time is up.
func (p *Poller) onPersisted(ctx context.Context, until time.Time, enough func() bool) {
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	for !enough() {
		select {
		case id := <-p.done:
			p.markDone(id)
		case <-timer.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// markDone moves the offset behind the updates that are done, as far as there is no gap. The order is that in which
// they came: ids may begin anew at a lower number.
func (p *Poller) markDone(id int64) {
	p.inHand[id].done = true
	for len(p.queue) > 0 && p.queue[0].done {
		p.offset = p.queue[0].update.ID + 1
		delete(p.inHand, p.queue[0].update.ID)
		p.queue = p.queue[1:]
		if p.suspects > 0 {
			p.suspects--
			p.worker.SetCareful(p.suspects > 0)
		}
	}
}

// finish waits for what is in hand and confirms it. What is not confirmed will come again and change nothing.
func (p *Poller) finish(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishWithin)
	defer cancel()
	p.onPersisted(ctx, time.Now().Add(finishWithin), func() bool { return len(p.queue) == 0 })
	if p.offset == 0 {
		return
	}
	ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), confirmWithin)
	defer cancel()
	if err := p.source.Confirm(ctx, p.offset); err != nil {
		p.worker.log.WarnContext(ctx, "cannot confirm the last updates; they will come again", "error", err)
	}
}
