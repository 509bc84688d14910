package outbox

import (
	"slices"
	"time"
)

// pace keeps requests within sliding windows. The messenger counts a request at some moment between
// its start and its end. So pace remembers when requests ended and measures windows from an end to
// the next start, which is safe for any network delay. A token bucket is not enough: if it allows
// bursts, up to twice as many requests pass in the first window.
type pace struct {
	windows []Window
	ends    []time.Time // when the last requests ended, oldest first
}

// farFuture is the wait for an event whose time is unknown, such as the end of another request. The
// event reschedules the waiting lane.
const farFuture = 1000 * time.Hour

// next returns the earliest moment, not before now, at which another request may start while
// inFlight others are in flight. The moment is farFuture away if one of these must end first.
func (p *pace) next(now time.Time, inFlight int) time.Time {
	next := now
	for _, w := range p.windows {
		switch oldest := len(p.ends) + inFlight - w.N; {
		case oldest < 0:
		case oldest >= len(p.ends):
			return now.Add(farFuture)
		default:
			next = latest(next, p.ends[oldest].Add(w.Per))
		}
	}
	return next
}

func latest(all ...time.Time) time.Time { return slices.MaxFunc(all, time.Time.Compare) }

func (p *pace) add(end time.Time) {
	most := 0
	for _, w := range p.windows {
		most = max(most, w.N)
	}
	if most == 0 {
		return
	}
	if len(p.ends) >= 2*most { // trim rarely to keep the amortized cost low
		p.ends = slices.Delete(p.ends, 0, len(p.ends)-most)
	}
	at, _ := slices.BinarySearchFunc(p.ends, end, time.Time.Compare)
	p.ends = slices.Insert(p.ends, at, end)
}

// clearAt returns when the last of the remembered requests stops counting against the limits. It
// returns the zero time if no requests are remembered.
func (p *pace) clearAt() time.Time {
	if len(p.ends) == 0 {
		return time.Time{}
	}
	return p.ends[len(p.ends)-1].Add(longest(p.windows))
}

// horizon returns the longest time for which a request counts against a limit.
func (l Limits) horizon() time.Duration { return longest(slices.Concat(l.Private, l.Group, l.Total)) }

func longest(windows []Window) time.Duration {
	most := time.Duration(0)
	for _, w := range windows {
		most = max(most, w.Per)
	}
	return most
}
