// Package clock estimates the time on other machines from the dates of their answers.
package clock

import (
	"sync"
	"time"
)

// Remote estimates the clock of another machine. Between answers it advances with the monotonic
// clock of this process, so a wrong or changed wall clock does not affect it. The zero value does
// not know the time yet. Remote is safe for concurrent use.
type Remote struct {
	mu          sync.Mutex
	anchor      time.Time // the estimate when the last answer arrived
	anchorLocal time.Time // the same moment by this process's clock; zero before the first answer
}

// Dated updates the clock from the date of an answer that has just arrived. begun is when its
// request started, by the clock of this process. precision is the unit to which date is truncated,
// such as a second. The answer was dated at some moment between begun and now, which gives a range
// for the remote time. If the estimate is within that range, it stays. Otherwise it moves to the
// closer end. The first estimate is the middle of the range.
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

// Now returns the estimated time of the other machine. ok is false before the first answer.
func (r *Remote) Now() (now time.Time, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.anchor.Add(time.Since(r.anchorLocal)), !r.anchorLocal.IsZero()
}
