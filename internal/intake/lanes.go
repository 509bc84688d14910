package intake

import (
	"context"
	"slices"
	"sync"
)

// lanes serializes the updates of each lane. Different lanes run in parallel.
type lanes struct {
	mu      sync.Mutex
	waiting map[int64][]*ticket // by lane, in the order of arrival; the first one has its turn
}

// ticket is the position of one update in its lane.
type ticket struct {
	lanes *lanes
	lane  int64
	turn  chan struct{} // closed when its turn has come
}

func newLanes() *lanes { return &lanes{waiting: make(map[int64][]*ticket)} }

// join returns a ticket at the end of a lane. The caller must call leave, whether its turn came or not.
func (l *lanes) join(lane int64) *ticket {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := &ticket{lanes: l, lane: lane, turn: make(chan struct{})}
	l.waiting[lane] = append(l.waiting[lane], t)
	if l.waiting[lane][0] == t {
		close(t.turn)
	}
	return t
}

// wait returns true when the ticket's turn has come, and false if the context ends first.
func (t *ticket) wait(ctx context.Context) bool {
	select {
	case <-t.turn:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// leave removes the ticket from its lane, and passes the turn on if it had come.
func (t *ticket) leave() {
	l := t.lanes
	l.mu.Lock()
	defer l.mu.Unlock()
	queue := l.waiting[t.lane]
	at := slices.Index(queue, t)
	queue = slices.Delete(queue, at, at+1)
	if len(queue) == 0 {
		delete(l.waiting, t.lane)
		return
	}
	l.waiting[t.lane] = queue
	if at == 0 {
		close(queue[0].turn)
	}
}
