package ranking

import (
	"maps"
	"sync"
	"time"
)

// maxRecent bounds what is remembered of each kind.
const maxRecent = 1000

// recently remembers when something has happened last.
type recently[K comparable] struct {
	mu   sync.Mutex
	last map[K]time.Time
}

// seen takes note that it has happened, and forgets what has happened longer ago than that.
func (r *recently[K]) seen(what K, now time.Time, within time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last == nil || len(r.last) >= maxRecent {
		last := maps.Clone(r.last)
		maps.DeleteFunc(last, func(_ K, at time.Time) bool { return now.Sub(at) > within })
		if last == nil || len(last) >= maxRecent { // so many at once that forgetting them costs nobody anything
			last = make(map[K]time.Time)
		}
		r.last = last
	}
	r.last[what] = now
}

// has tells whether it has happened within that time.
func (r *recently[K]) has(what K, now time.Time, within time.Duration) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, ok := r.last[what]
	return ok && now.Sub(at) <= within
}
