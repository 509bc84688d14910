package intake

import (
	"sync"
	"time"
)

const (
	// maxRecent and rememberRecent are how many updates are remembered that were done with, and for how long.
	maxRecent      = 1000
	rememberRecent = time.Minute
)

// recent is the updates that have been done with lately. A messenger that has not heard of that delivers them again, and
// nobody need be asked about them.
type recent struct {
	mu    sync.Mutex
	until map[int64]time.Time // by update id
	order []int64             // the same ids, the oldest first
}

func newRecent() *recent { return &recent{until: make(map[int64]time.Time)} }

// add remembers an update.
func (r *recent) add(id int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.until[id]; !ok {
		r.order = append(r.order, id)
	}
	r.until[id] = time.Now().Add(rememberRecent)
	if len(r.order) > maxRecent {
		delete(r.until, r.order[0])
		r.order = r.order[1:]
	}
}

// has says whether an update is remembered.
func (r *recent) has(id int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Now().Before(r.until[id])
}
