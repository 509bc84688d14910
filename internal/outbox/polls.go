package outbox

import (
	"context"
	"time"
)

func (t *term) survey(ctx context.Context) {
	const interval, largest = 10 * time.Second, 20
	tick := time.NewTicker(interval)
	defer tick.Stop()
	failing := false
	for {
		storeCtx, cancel := context.WithTimeout(ctx, storeTimeout)
		s, err := t.store.Survey(storeCtx, largest)
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !failing:
			t.log.WarnContext(ctx, "failed to count waiting notices, retrying", "error", err)
		case err == nil:
			t.stats.surveyed(s, time.Now())
			t.overloaded.Store(s.Waiting > t.settings.WaitingTotal)
		}
		failing = err != nil
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// pollStore polls the store for lanes with something to send: those from before the start, those whose wake was lost, and those whose pause
// is over.
func (t *term) pollStore(ctx context.Context) {
	failing := false
	for {
		begun := time.Now()
		storeCtx, cancel := context.WithTimeout(ctx, storeTimeout)
		backlogs, err := t.store.Waiting(storeCtx, t.bounds())
		cancel()
		took := time.Since(begun)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !failing:
			t.log.ErrorContext(ctx, "failed to look for notices to send, retrying", "error", err)
		}
		if err == nil {
			select {
			case t.polled <- backlogs:
			case <-ctx.Done():
				return
			}
		}
		failing = err != nil
		interval := t.settings.PollEvery
		if err == nil {
			// with many waiting lanes the query is slow; do not keep the database busy with it
			interval = max(interval, 10*took)
		}
		select {
		case <-time.After(interval):
		case <-ctx.Done():
			return
		}
	}
}
