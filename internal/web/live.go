package web

import (
	"net/http"
	"net/netip"
	"sync"
	"time"

	"elobot/internal/ranking"
)

const (
	// maxViewers limits how many viewers an instance has at the same time, and maxViewersOf how
	// many of them have the same address.
	maxViewers, maxViewersOf = 2000, 20
	// eventTimeout is how long a viewer may take to read an event before the connection is dropped.
	eventTimeout = 5 * time.Second
	// eventPause is the minimum time between two events to a viewer.
	eventPause = 500 * time.Millisecond
	// heartbeat is how often a viewer gets output even if nothing changes, so that proxies keep the
	// connection open.
	heartbeat = 25 * time.Second
)

// live tells viewers that something in their group has changed, but not what.
type live struct {
	mu       sync.Mutex
	versions map[ranking.GroupID]uint64 // how often something in each group has changed
	all      uint64                     // how often something may have changed in any group
	viewers  map[ranking.GroupID]map[chan struct{}]struct{}
	count    int
	from     map[netip.Addr]int
	closed   chan struct{}
	close    func() // closes closed; only the first call has an effect
}

func newLive() *live {
	closed := make(chan struct{})
	return &live{
		versions: make(map[ranking.GroupID]uint64), viewers: make(map[ranking.GroupID]map[chan struct{}]struct{}),
		from: make(map[netip.Addr]int), closed: closed, close: sync.OnceFunc(func() { close(closed) }),
	}
}

// Changed invalidates the cached pages of a group, and tells its viewers that something has
// changed. It does not wait for the viewers.
func (b *Board) Changed(group ranking.GroupID) {
	b.live.mu.Lock()
	defer b.live.mu.Unlock()
	b.live.versions[group]++
	b.live.signal(group)
}

// AllChanged is like Changed, for all groups.
func (b *Board) AllChanged() {
	b.live.mu.Lock()
	defer b.live.mu.Unlock()
	b.live.all++
	for group := range b.live.viewers {
		b.live.signal(group)
	}
}

// Close ends the connections of all viewers, including later ones.
func (b *Board) Close() { b.live.close() }

func (l *live) signal(group ranking.GroupID) {
	for changed := range l.viewers[group] {
		select {
		case changed <- struct{}{}:
		default: // an earlier signal is still unread
		}
	}
}

// version returns a number that changes with each change in a group.
func (l *live) version(group ranking.GroupID) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.versions[group] + l.all
}

// join adds a viewer. It returns a channel that receives when something changes, or the status of a
// refusal if there are too many viewers.
func (l *live) join(group ranking.GroupID, address netip.Addr) (changed chan struct{}, status int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.count >= maxViewers:
		return nil, http.StatusServiceUnavailable
	case l.from[address] >= maxViewersOf:
		return nil, http.StatusTooManyRequests
	}
	l.count++
	l.from[address]++
	if l.viewers[group] == nil {
		l.viewers[group] = make(map[chan struct{}]struct{})
	}
	changed = make(chan struct{}, 1)
	l.viewers[group][changed] = struct{}{}
	return changed, 0
}

func (l *live) leave(group ranking.GroupID, address netip.Addr, changed chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count--
	if l.from[address]--; l.from[address] == 0 {
		delete(l.from, address)
	}
	if delete(l.viewers[group], changed); len(l.viewers[group]) == 0 {
		delete(l.viewers, group)
	}
}

// follow sends the viewer an event after each change in the group. Changes during the pause after
// an event share the next event. follow ends when the viewer leaves or stops reading, or the Board
// is closed. After a change, it also ends if the link no longer works or cannot be checked.
func (b *Board) follow(w http.ResponseWriter, r *http.Request, group ranking.GroupID) {
	if r.Method != http.MethodGet {
		refuse(w, http.StatusMethodNotAllowed)
		return
	}
	address := b.proxies.client(r)
	changed, status := b.live.join(group, address)
	if status != 0 {
		refuse(w, status)
		return
	}
	defer b.live.leave(group, address, changed)
	// The board may have been turned off before the viewer joined.
	if _, err := b.open(r.Context(), group, r.PathValue("token")); err != nil {
		refuse(w, http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // turns off buffering in nginx
	conn := http.NewResponseController(w)
	send := func(event string) bool {
		err := conn.SetWriteDeadline(time.Now().Add(eventTimeout))
		if err == nil {
			_, err = w.Write([]byte(event))
		}
		if err == nil {
			err = conn.Flush()
		}
		return err == nil
	}
	beat := time.Tick(heartbeat)
	if conn.SetReadDeadline(time.Time{}) != nil || !send("retry: 2000\n\n") {
		return
	}
	for {
		select {
		case <-changed:
			if _, err := b.open(r.Context(), group, r.PathValue("token")); err != nil || !send("data: changed\n\n") {
				return
			}
			select { // changes during the pause share one event
			case <-time.After(eventPause):
			case <-b.live.closed:
				return
			case <-r.Context().Done():
				return
			}
		case <-beat:
			if !send(":\n\n") {
				return
			}
		case <-b.live.closed:
			return
		case <-r.Context().Done():
			return
		}
	}
}
