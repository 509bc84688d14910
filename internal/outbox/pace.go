package outbox

import (
	"slices"
	"time"
)

// pace keeps requests within windows of time. It remembers when the last ones were answered: the messenger counts a
// request at some moment between its beginning and its end, so that windows which are kept from each end to the next
// beginning are kept whatever the network does. A token bucket would not do: one that allows bursts lets through up to
// twice as much in the first window.
type pace struct {
	windows []Window
	ends    []time.Time // of the last requests, oldest first
}

// never is when a request may begin that has to wait for the end of another one.
const never = 1000 * time.Hour

// next returns the first moment from now on at which one more request may begin while so many are under way.
func (p *pace) next(now time.Time, underWay int) time.Time {
	next := now
	for _, w := range p.windows {
		switch oldest := len(p.ends) + underWay - w.N; {
		case oldest < 0:
		case oldest >= len(p.ends):
			return now.Add(never)
		default:
			if free := p.ends[oldest].Add(w.Per); free.After(next) {
				next = free
			}
		}
	}
	return next
}

// add takes note of the end of a request.
func (p *pace) add(end time.Time) {
	most := 0
	for _, w := range p.windows {
		most = max(most, w.N)
	}
	if most == 0 {
		return
	}
	if len(p.ends) >= 2*most { // now and then, so that it costs next to nothing
		p.ends = slices.Delete(p.ends, 0, len(p.ends)-most)
	}
	at := len(p.ends)
	for at > 0 && p.ends[at-1].After(end) {
		at--
	}
	p.ends = slices.Insert(p.ends, at, end)
}

// clear returns when nothing that is remembered limits anything any more; the past if that is so already.
func (p *pace) clear() time.Time {
	if len(p.ends) == 0 {
		return time.Time{}
	}
	longest := time.Duration(0)
	for _, w := range p.windows {
		longest = max(longest, w.Per)
	}
	return p.ends[len(p.ends)-1].Add(longest)
}

// horizon is how long a request counts against any limit.
func (l Limits) horizon() time.Duration {
	longest := time.Duration(0)
	for _, w := range slices.Concat(l.Private, l.Group, l.Total) {
		longest = max(longest, w.Per)
	}
	return longest
}
