// Package clock estimates the clocks of other machines from the dates of their answers.
package clock

import (
	"sync"
	"time"
)

// Remote is the clock of another machine. Between answers it advances by the monotonic clock of
// this process, so the wall clock of this machine may be wrong or be changed. The zero value is a
// clock with unknown time. Remote is safe for concurrent use.
type Remote struct {
	mu          sync.Mutex
	anchor      time.Time // by the other machine's clock
	anchorLocal time.Time // the same moment by this process's clock; zero: unknown
}

// Dated updates the clock from an answer that has just arrived; begun is when its request started,
// by the clock of this process. date is truncated to the precision. The answer was dated at some
// moment between begun and now, so the clock changes only if it is outside this range.
func (r *Remote) Dated(date, begun time.Time, precision time.Duration) {
	now := time.Now()
	earliest, latest := date, date.Add(precision+now.Sub(begun))
	r.mu.Lock()
	defer r.mu.Unlock()
	anchor := r.anchor.Add(now.Sub(r.anchorLocal))
	switch {
	case r.anchorLocal.IsZero():
		anchor = earliest.Add(latest.Sub(earliest) / 2)
	case anchor.Before(earliest):
		anchor = earliest
	case anchor.After(latest):
		anchor = latest
	}
	r.anchor, r.anchorLocal = anchor, now
}

// Now returns the estimated time. ok is false until the first answer.
func (r *Remote) Now() (now time.Time, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.anchor.Add(time.Since(r.anchorLocal)), !r.anchorLocal.IsZero()
}
