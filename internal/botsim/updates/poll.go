package updates

import (
	"bytes"
	"time"
)

// sameOffsetTime is how soon a second getUpdates with the same offset gets only one update.
const sameOffsetTime = 500 * time.Millisecond

// Poll is a getUpdates that waits for an update.
type Poll struct {
	Wake     chan struct{} // closed when there is an update
	Conflict chan struct{} // closed when another request terminates this one
	Reason   error         // the error to return; set before Conflict is closed
}

// Wait makes a getUpdates the waiting long poll. There must be no other: see [Queue.Terminate].
func (q *Queue) Wait() *Poll {
	q.poller = &Poll{Wake: make(chan struct{}), Conflict: make(chan struct{})}
	return q.poller
}

// Terminate ends the waiting long poll, if any, with an error.
func (q *Queue) Terminate(reason error) {
	if q.poller != nil {
		q.poller.Reason = reason
		close(q.poller.Conflict)
		q.poller = nil
	}
}

// Leave ends the wait of p if it is still the waiting long poll.
func (q *Queue) Leave(p *Poll) {
	if q.poller == p {
		q.poller = nil
	}
}

// ShowFrom is Show for a getUpdates that begins, with its offset. It shows only one update to a bot that repeats an
// offset at once.
func (q *Queue) ShowFrom(now time.Time, offset int64, limit int) List {
	if offset == q.lastOffset && q.lastHadUpdates && now.Sub(q.lastPoll) < sameOffsetTime {
		limit = 1
	}
	q.lastOffset, q.lastPoll = offset, now
	return q.Show(limit)
}

// Show returns the first updates of the queue, up to limit. It confirms nothing.
func (q *Queue) Show(limit int) List {
	waiting := q.Waiting()
	shown := make(List, 0, min(limit, len(waiting)))
	for _, u := range waiting[:min(limit, len(waiting))] {
		shown = append(shown, u.Raw)
	}
	q.lastHadUpdates = len(shown) > 0
	return shown
}

// List holds updates as the bot gets them.
type List [][]byte

// JSON returns the list as an array. An update that is not valid JSON is written unchanged.
func (l List) JSON() []byte {
	return append(append([]byte{'['}, bytes.Join(l, []byte{','})...), ']')
}
