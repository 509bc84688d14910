package ranking

import (
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

// maxRecent bounds the number of keys that a recentEvents remembers.
const maxRecent = 1000

// recentEvents remembers when the event with a key last happened.
type recentEvents[K comparable] struct {
	lastSeen *lru.Cache[K, time.Time]
}

func newRecentEvents[K comparable]() recentEvents[K] {
	lastSeen, err := lru.New[K, time.Time](maxRecent)
	if err != nil { // only for a size that is not positive
		panic(err)
	}
	return recentEvents[K]{lastSeen}
}

// record notes that the event happened now.
func (r recentEvents[K]) record(key K, now time.Time) { r.lastSeen.Add(key, now) }

// happenedWithin reports whether the event happened within the window that ends now.
func (r recentEvents[K]) happenedWithin(key K, now time.Time, window time.Duration) bool {
	at, ok := r.lastSeen.Get(key)
	return ok && now.Sub(at) <= window
}
