package intake

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// outageLogEvery is how often the log reports a continuing outage.
const outageLogEvery = time.Minute

// outage is whether the database is unavailable, so that the log reports an outage once for all updates.
type outage struct {
	log *slog.Logger

	mu     sync.Mutex
	since  time.Time // when the outage began; zero: there is none
	seen   time.Time // when an update last failed with Unavailable
	logged time.Time // when the log last reported the outage
	// update is the one that last failed with Unavailable. Another outcome of it ends the outage. Other updates prove nothing: they may not
	// need the database.
	update int64
}

// noteUnavailable records that an update failed with Unavailable.
func (o *outage) noteUnavailable(ctx context.Context, update int64, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seen, o.update = time.Now(), update
	if o.since.IsZero() {
		o.since, o.logged = o.seen, time.Time{}
	}
	if o.seen.Sub(o.logged) >= outageLogEvery {
		o.logged = o.seen
		o.log.ErrorContext(ctx, "database unavailable, updates have to wait",
			"unavailable_ms", o.seen.Sub(o.since).Milliseconds(), "error", err)
	}
}

// noteOther records that an update had an outcome other than Unavailable. If none has failed with Unavailable for a minute, any update ends
// the outage: the one that failed last may have gone to another instance.
func (o *outage) noteOther(ctx context.Context, update int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.since.IsZero() || o.update != update && time.Since(o.seen) < outageLogEvery {
		return
	}
	o.log.InfoContext(ctx, "database available again, handling updates", "unavailable_ms", o.seen.Sub(o.since).Milliseconds())
	o.since = time.Time{}
}
