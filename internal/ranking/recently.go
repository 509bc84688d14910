package ranking

import (
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

// maxRecent bounds what is remembered of each kind.
const maxRecent = 1000

// recently remembers when something has happened last.
type recently[K comparable] struct {
	last *lru.Cache[K, time.Time]
}

func newRecently[K comparable]() recently[K] {
	last, err := lru.New[K, time.Time](maxRecent)
	if err != nil { // only for a size that is not positive
		panic(err)
	}
	return recently[K]{last}
}

// seen takes note that it has happened.
func (r recently[K]) seen(what K, now time.Time) { r.last.Add(what, now) }

// has tells whether it has happened within that time.
func (r recently[K]) has(what K, now time.Time, within time.Duration) bool {
	at, ok := r.last.Get(what)
	return ok && now.Sub(at) <= within
}
