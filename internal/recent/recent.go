// Package recent provides a bounded set that keeps each key for a limited time.
package recent

import (
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

// Set holds keys, each until it expires. When the set is full, adding a new key removes the key
// that was least recently added or looked up. A Set is safe for concurrent use.
type Set[K comparable] struct {
	Now func() time.Time // the clock; replace it only before the first use

	until *lru.Cache[K, time.Time]
}

// NewSet returns a set of at most size keys. It panics if size is not positive.
func NewSet[K comparable](size int) *Set[K] {
	until, err := lru.New[K, time.Time](size)
	if err != nil {
		panic(err)
	}
	return &Set[K]{Now: time.Now, until: until}
}

// Add adds a key that expires after kept. If the set has the key, Add replaces its expiry.
func (s *Set[K]) Add(key K, kept time.Duration) { s.until.Add(key, s.Now().Add(kept)) }

// Has reports whether the set holds the key and the key has not expired.
func (s *Set[K]) Has(key K) bool {
	until, ok := s.until.Get(key)
	return ok && s.Now().Before(until)
}
