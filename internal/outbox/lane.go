package outbox

import (
	"container/heap"
	"slices"
	"time"

	"github.com/sethvargo/go-retry"
)

// Waits after failures that pass: they double from firstBackoff to maxBackoff, give or take 30 %.
const (
	firstBackoff  = 500 * time.Millisecond
	maxBackoff    = 20 * time.Second
	backoffJitter = 30
)

func newBackoff() retry.Backoff {
	return retry.WithJitterPercent(backoffJitter, retry.WithCappedDuration(maxBackoff, retry.NewExponential(firstBackoff)))
}

// nextBackoff returns how long to wait after one more failure.
func (l *lane) nextBackoff() time.Duration {
	if l.backoff == nil {
		l.backoff = newBackoff()
	}
	pause, _ := l.backoff.Next() // it never says stop
	return pause
}

// lane is a queue as the dispatcher sees it: not the items, only whether there may be any and when the next ones may go.
// It is in memory from when it is woken until there is nothing to be sent and nothing to be remembered of it.
type lane struct {
	Lane
	state     state
	woken     bool // something was added since it was last asked for what it has
	level     int  // its priority, for an item that has just begun to wait
	since     time.Time
	notBefore time.Time     // nothing may be sent before, for reasons other than the pace
	backoff   retry.Backoff // how long to wait after the next failure; nil: there was none lately
	pace      pace
	slow      bool      // its last request was not answered in time: the next one may take longer, one such at a time
	readyAt   time.Time // since when it could have had its turn; zero: it could not

	order time.Time // its key in the heap that it is in
	index int       // its place there
}

type state int

const (
	idle    state = iota // nothing to be sent; remembered for its pace
	waiting              // for its time
	ready                // for its turn
	busy                 // something of it is being taken, sent or written down
)

// Priorities of lanes, and after how long a lane that waits is one level higher.
const (
	levelPrivate      = 10
	levelGroup        = 5
	levelNotification = 3
	levelFavoured     = 2 // more than others of its kind
	levelEvery        = 10 * time.Second
)

// level returns the priority of what is sent to a chat.
func (s Settings) level(to int64, private bool, purpose Purpose) int {
	level := levelGroup
	switch {
	case purpose == Notification:
		level = levelNotification
	case private:
		level = levelPrivate
	}
	if slices.Contains(s.Favoured, to) {
		level += levelFavoured
	}
	return level
}

// rank says when the lane would have begun to wait if it were of level 0. All lanes rise at the same speed, so whoever
// has the earliest rank is the first at any time.
func (l *lane) rank() time.Time { return l.since.Add(-time.Duration(l.level) * levelEvery) }

// lanes is a heap of lanes by their order, earliest first.
type lanes []*lane

func (h lanes) Len() int           { return len(h) }
func (h lanes) Less(i, j int) bool { return h[i].order.Before(h[j].order) }
func (h lanes) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push implements heap.Interface.
func (h *lanes) Push(x any) {
	l := x.(*lane) //nolint:forcetypeassert // nothing else is pushed
	l.index = len(*h)
	*h = append(*h, l)
}

// Pop implements heap.Interface.
func (h *lanes) Pop() any {
	last := len(*h) - 1
	l := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return l
}

func (h *lanes) add(l *lane, order time.Time) {
	l.order = order
	heap.Push(h, l)
}

func (h *lanes) remove(l *lane) { heap.Remove(h, l.index) }

// first returns the first lane, nil if there is none.
func (h lanes) first() *lane {
	if len(h) == 0 {
		return nil
	}
	return h[0]
}
