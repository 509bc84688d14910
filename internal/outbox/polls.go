package outbox

import (
	"context"
	"time"
)

// keepCalling repeats a call to the store until the context ends. Each call may take up to
// storeTimeout, and is followed by the pause that it returns. Of several errors in a row,
// keepCalling reports only the first.
func keepCalling(ctx context.Context, call func(context.Context) (pause time.Duration, err error), report func(error)) {
	failing := false
	for {
		storeCtx, cancel := context.WithTimeout(ctx, storeTimeout)
		pause, err := call(storeCtx)
		cancel()
		if err != nil && !failing && ctx.Err() == nil {
			report(err)
		}
		failing = err != nil
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

func (t *term) survey(ctx context.Context) {
	const interval, largest = 10 * time.Second, 20
	keepCalling(ctx, func(storeCtx context.Context) (time.Duration, error) {
		s, err := t.store.Survey(storeCtx, largest)
		if err == nil {
			t.stats.surveyed(s, time.Now())
			t.overloaded.Store(s.Waiting > t.settings.WaitingTotal)
		}
		return interval, err
	}, func(err error) { t.log.WarnContext(ctx, "failed to count waiting notices, retrying", "error", err) })
}

// pollStore polls the store for lanes with something to send. Polling finds items without a wake:
// items that were committed before the start, whose wake was lost, or whose pause is over.
func (t *term) pollStore(ctx context.Context) {
	keepCalling(ctx, func(storeCtx context.Context) (time.Duration, error) {
		begun := time.Now()
		backlogs, err := t.store.Waiting(storeCtx, t.bounds())
		if err != nil {
			return t.settings.PollEvery, err
		}
		// with many waiting lanes the query is slow; do not keep the database busy with it
		pause := max(t.settings.PollEvery, 10*time.Since(begun))
		select {
		case t.polled <- backlogs:
		case <-ctx.Done():
		}
		return pause, nil
	}, func(err error) { t.log.ErrorContext(ctx, "failed to look for notices to send, retrying", "error", err) })
}
