package intake

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

const (
	// probeEvery is how often all updates in progress together probe the database during an outage.
	probeEvery = time.Second
	// logEvery is how often the log reports a continuing outage. If no update has failed with Unavailable for that long, any
	// other outcome of any update ends the outage, not only a witness's.
	logEvery = time.Minute
	// maxWitnesses bounds the memory for an outage.
	maxWitnesses = 1000
)

// outage tracks an outage of the database for all updates together.
type outage struct {
	log   *slog.Logger
	probe chan struct{} // capacity 1: the waiter that probes next

	mu    sync.Mutex
	ended chan struct{} // closed while there is no outage
	// since, seen and logged say when the current outage began, and when it was last seen and logged.
	since, seen, logged time.Time
	// witnesses are the updates that failed with Unavailable. When one of them gets another outcome, the outage is over. Other
	// updates prove nothing: they may not need the database.
	witnesses map[int64]bool
}

func newOutage(log *slog.Logger) *outage {
	o := &outage{log: log, probe: make(chan struct{}, 1), ended: make(chan struct{})}
	close(o.ended)
	return o
}

// whenEnded returns a channel that is closed while there is no outage.
func (o *outage) whenEnded() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ended
}

// noteUnavailable records that an update failed with Unavailable.
func (o *outage) noteUnavailable(ctx context.Context, update int64, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	if o.since.IsZero() {
		o.since, o.logged = now, time.Time{}
		o.witnesses = make(map[int64]bool)
		o.ended = make(chan struct{})
	}
	o.seen = now
	if len(o.witnesses) < maxWitnesses {
		o.witnesses[update] = true
	}
	if now.Sub(o.logged) >= logEvery {
		o.logged = now
		o.log.ErrorContext(ctx, "database unavailable, updates have to wait",
			"unavailable_ms", now.Sub(o.since).Milliseconds(), "error", err)
	}
}

// noteOther records that an update had an outcome other than Unavailable.
func (o *outage) noteOther(ctx context.Context, update int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.since.IsZero() || !o.witnesses[update] && time.Since(o.seen) < logEvery {
		return
	}
	o.log.InfoContext(ctx, "database available again, handling updates", "unavailable_ms", o.seen.Sub(o.since).Milliseconds())
	o.since, o.witnesses = time.Time{}, nil
	close(o.ended)
}

// wait returns when a retry makes sense: the outage is over or, once per second, it is this waiter's turn to probe. Without
// an outage it waits a second. It returns how long it waited.
func (o *outage) wait(ctx context.Context) time.Duration {
	begun := time.Now()
	ended := o.whenEnded()
	select {
	case <-ended:
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
		case <-ended:
		case <-ctx.Done():
		}
		<-o.probe
	case <-ended:
	case <-ctx.Done():
	}
	return time.Since(begun)
}

// pause waits for d, or until the context ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
