package intake

import (
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

const (
	// maxRecent and rememberRecent are how many updates are remembered that were done with, and for how long.
	maxRecent      = 1000
	rememberRecent = time.Minute
)

// recent is the updates that have been done with lately. A messenger that has not heard of that delivers them again, and
// nobody need be asked about them.
type recent struct {
	until *lru.Cache[int64, time.Time] // by update id
}

func newRecent() *recent {
	until, err := lru.New[int64, time.Time](maxRecent)
	if err != nil { // only for a size that is not positive
		panic(err)
	}
	return &recent{until}
}

// add remembers an update.
func (r *recent) add(id int64) { r.until.Add(id, time.Now().Add(rememberRecent)) }

// has says whether an update is remembered.
func (r *recent) has(id int64) bool {
	until, ok := r.until.Get(id)
	return ok && time.Now().Before(until)
}
