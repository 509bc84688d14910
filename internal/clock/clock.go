// Package clock knows the clocks of other machines by the moments that their answers are dated at.
package clock

import (
	"sync"
	"time"
)

// Remote is the clock of another machine. Between its answers it goes on by the monotonic clock of this process, so that it
// does not matter whether the clock of this machine is right, or is set. The zero value is a clock that nothing is known of.
// It may be used by several goroutines.
type Remote struct {
	mu   sync.Mutex
	at   time.Time // by the other machine's clock
	seen time.Time // the same moment by the clock of this process; zero: nothing is known
}

// Dated takes note of an answer that has arrived now and was asked for at begun, by the clock of this process. Its date has
// no parts smaller than the precision. The answer was dated at some moment in between, so that one which has taken long
// changes only what it shows to be wrong.
func (r *Remote) Dated(date, begun time.Time, precision time.Duration) {
	now := time.Now()
	earliest, latest := date, date.Add(precision+now.Sub(begun))
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.at.Add(now.Sub(r.seen))
	switch {
	case r.seen.IsZero():
		at = earliest.Add(latest.Sub(earliest) / 2)
	case at.Before(earliest):
		at = earliest
	case at.After(latest):
		at = latest
	}
	r.at, r.seen = at, now
}

// Now returns what the clock shows. ok is false as long as there was no answer.
func (r *Remote) Now() (now time.Time, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.at.Add(time.Since(r.seen)), !r.seen.IsZero()
}
