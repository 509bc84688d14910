package intake

import (
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

const (
	// maxRecent and rememberRecent say how many persisted updates are remembered, and for how long.
	maxRecent      = 1000
	rememberRecent = time.Minute
)

// recent remembers the updates that were persisted in the last minute. A messenger that missed the confirmation redelivers them; they need
// no second look at the database.
type recent struct {
	until *lru.Cache[int64, time.Time] // by update id
}

func newRecent() *recent {
	until, err := lru.New[int64, time.Time](maxRecent)
	if err != nil { // only if the size is not positive
		panic(err)
	}
	return &recent{until}
}

func (r *recent) add(id int64) { r.until.Add(id, time.Now().Add(rememberRecent)) }

func (r *recent) has(id int64) bool {
	until, ok := r.until.Get(id)
	return ok && time.Now().Before(until)
}
