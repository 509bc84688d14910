package intake

import (
	"context"
	"slices"
	"sync"
)

// lanes lets the updates of each lane pass one after the other, different lanes side by side.
type lanes struct {
	mu      sync.Mutex
	waiting map[int64][]*ticket // by lane, in the order in which they came; it is the turn of the first
}

// place is the place of one update in its lane.
type ticket struct {
	lanes *lanes
	lane  int64
	turn  chan struct{} // closed when it is its turn
}

func newLanes() *lanes { return &lanes{waiting: make(map[int64][]*ticket)} }

// join takes the last place in a lane. It has to be left, whether its turn came or not.
func (l *lanes) join(lane int64) *ticket {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := &ticket{lanes: l, lane: lane, turn: make(chan struct{})}
	l.waiting[lane] = append(l.waiting[lane], p)
	if l.waiting[lane][0] == p {
		close(p.turn)
	}
	return p
}

// wait returns true when it is the place's turn, and false if the context ends before.
func (p *ticket) wait(ctx context.Context) bool {
	select {
	case <-p.turn:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// leave gives the place up, and the turn to the next one if it was its turn.
func (p *ticket) leave() {
	l := p.lanes
	l.mu.Lock()
	defer l.mu.Unlock()
	queue := l.waiting[p.lane]
	at := slices.Index(queue, p)
	queue = slices.Delete(queue, at, at+1)
	if len(queue) == 0 {
		delete(l.waiting, p.lane)
		return
	}
	l.waiting[p.lane] = queue
	if at == 0 {
		close(queue[0].turn)
	}
}
