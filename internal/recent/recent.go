// Package recent provides a bounded set that keeps each key for a limited time.
package recent

import (
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

// Set holds keys, each for some time. If there are too many, it forgets the least recently used
// one. It is safe for concurrent use.
type Set[K comparable] struct {
	Now func() time.Time // set it before the first use

	until *lru.Cache[K, time.Time]
}

// NewSet returns a set of at most size keys. size must be positive.
func NewSet[K comparable](size int) *Set[K] {
	until, err := lru.New[K, time.Time](size)
	if err != nil { // only if the size is not positive
		panic(err)
	}
	return &Set[K]{Now: time.Now, until: until}
}

// Add remembers a key from now on.
func (s *Set[K]) Add(key K, kept time.Duration) { s.until.Add(key, s.Now().Add(kept)) }

// Has reports whether a key is remembered.
func (s *Set[K]) Has(key K) bool {
	until, ok := s.until.Get(key)
	return ok && s.Now().Before(until)
}
