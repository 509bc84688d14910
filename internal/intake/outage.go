package intake

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

const (
	// probeEvery is how often the database is tried while it is away, by all updates in hand together.
	probeEvery = time.Second
	// tellEvery is how often the log says that the database is away. Nobody having found it away for that long is as
	// good as a proof that it is back.
	tellEvery = time.Minute
	// maxWitnesses bounds what is remembered of an outage.
	maxWitnesses = 1000
)

// outage is what all updates together know of the database being away.
type outage struct {
	log   *slog.Logger
	probe chan struct{} // holds one: whoever tries next

	mu   sync.Mutex
	over chan struct{} // closed while the database is there
	// Of the outage that there is: when it began, was seen last and told last.
	since, seen, told time.Time
	// witnesses are the updates that found the database away. That one of them does not any more says that it is back;
	// of others nobody knows whether they needed it.
	witnesses map[int64]bool
}

func newOutage(log *slog.Logger) *outage {
	o := &outage{log: log, probe: make(chan struct{}, 1), over: make(chan struct{})}
	close(o.over)
	return o
}

// back returns a channel that is closed when the database is there.
func (o *outage) back() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.over
}

// found takes note that an update found the database away.
func (o *outage) found(ctx context.Context, update int64, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	if o.since.IsZero() {
		o.since, o.told = now, time.Time{}
		o.witnesses = make(map[int64]bool)
		o.over = make(chan struct{})
	}
	o.seen = now
	if len(o.witnesses) < maxWitnesses {
		o.witnesses[update] = true
	}
	if now.Sub(o.told) >= tellEvery {
		o.told = now
		o.log.ErrorContext(ctx, "updates have to wait",
			"away_ms", now.Sub(o.since).Milliseconds(), "error", err)
	}
}

// passed takes note that an update did not find the database away.
func (o *outage) passed(ctx context.Context, update int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.since.IsZero() || !o.witnesses[update] && time.Since(o.seen) < tellEvery {
		return
	}
	o.log.InfoContext(ctx, "updates go on", "away_ms", o.seen.Sub(o.since).Milliseconds())
	o.since, o.witnesses = time.Time{}, nil
	close(o.over)
}

// wait returns when there is reason to try once more: the database is back or, each second, it is the turn of one of
// those that wait. While the database is there it waits a second. It returns how long that took.
func (o *outage) wait(ctx context.Context) time.Duration {
	begun := time.Now()
	back := o.back()
	select {
	case <-back:
		pause(ctx, probeEvery)
		return time.Since(begun)
	default:
	}
	select {
	case o.probe <- struct{}{}:
		timer := time.NewTimer(probeEvery)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-back:
		case <-ctx.Done():
		}
		<-o.probe
	case <-back:
	case <-ctx.Done():
	}
	return time.Since(begun)
}

// pause lets time go by until the context ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
