package outbox

import (
	"slices"
	"sync"
	"time"
)

// Figures are what a dispatcher measures. The counters count from the start of the process.
type Stats struct {
	Dispatching bool `json:"dispatching"` // this instance has the lease

	Waiting     int           `json:"waiting"`      // items that wait in the store
	Largest     []ChatBacklog `json:"largest"`      // the 20 chats in which most wait
	EnqueueRate float64       `json:"enqueue_rate"` // items added per second, over the last minute
	Dead        int           `json:"dead"`
	Frozen      int           `json:"frozen_chats"`
	Parked      int           `json:"parked_chats"`

	WaitingLanes int     `json:"waiting_lanes"`        // lanes that could send now and wait for their turn
	PausedLanes  int     `json:"paused_lanes"`         // lanes with something to send that may not send yet
	InFlight     int     `json:"in_flight"`            // requests under way
	AverageWait  float64 `json:"average_wait_seconds"` // seconds that a lane which could send waited for its turn, over the last 1,000 turns
	CircuitOpen  bool    `json:"circuit_open"`         // all lanes wait, because many chats were turned away or most requests fail

	Sent               int64 `json:"sent"`                // messages that were sent
	Delivered          int64 `json:"delivered"`           // items that the messages covered
	Merged             int64 `json:"merged"`              // items that were told together with others
	MergedMessages     int64 `json:"merged_messages"`     // messages that told several
	Dropped            int64 `json:"dropped"`             // items that were told by number only, or not at all, because too many waited
	Expired            int64 `json:"expired"`             // items that ended because they came too late, or had no point any more
	Skipped            int64 `json:"skipped"`             // edits that were needless
	Limited            int64 `json:"rate_limited"`        // times that the messenger asked to wait
	LongWaits          int64 `json:"long_waits"`          // times that it asked to wait for more than 10 minutes
	PossibleDuplicates int64 `json:"possible_duplicates"` // items that were sent once more because they had perhaps been sent
	Uncertain          int64 `json:"uncertain"`           // items that were perhaps sent MaxCopies times and are not sent again
	Died               int64 `json:"died"`                // items that became dead letters
}

const (
	waitsKept = 1000        // turns over which waiting is averaged
	rateOver  = time.Minute // time over which the rate of new items is measured
)

// meter keeps the figures.
type meter struct {
	mu    sync.Mutex
	stats Stats

	waits    [waitsKept]time.Duration
	turns    int
	waitedIn time.Duration // the sum of waits
	ids      []idAt        // the newest ids of the last minute
}

// idAt is the newest id in the store at a moment.
type idAt struct {
	id int64
	at time.Time
}

func (m *meter) read() Stats {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.stats
	f.Largest = slices.Clone(f.Largest)
	if n := min(m.turns, waitsKept); n > 0 {
		f.AverageWait = m.waitedIn.Seconds() / float64(n)
	}
	return f
}

// dispatching says whether there is anything to be measured. What is measured of the store is the leader's to know.
func (m *meter) dispatching(yes bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := &m.stats
	f.Dispatching = yes
	f.Waiting, f.Largest, f.EnqueueRate, f.Dead, f.Frozen, f.Parked = 0, nil, 0, 0, 0, 0
	f.WaitingLanes, f.PausedLanes, f.InFlight, f.CircuitOpen = 0, 0, 0, false
	m.ids = nil
}

func (m *meter) surveyed(s Survey, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := &m.stats
	f.Waiting, f.Largest, f.Dead, f.Frozen, f.Parked = s.Waiting, s.Largest, s.Dead, s.Frozen, s.Parked
	for len(m.ids) > 1 && now.Sub(m.ids[0].at) > rateOver {
		m.ids = m.ids[1:]
	}
	m.ids = append(m.ids, idAt{s.LastID, now})
	if first := m.ids[0]; now.After(first.at) {
		f.EnqueueRate = float64(s.LastID-first.id) / now.Sub(first.at).Seconds()
	}
}

func (m *meter) lanes(waiting, paused, inFlight int, stand bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := &m.stats
	f.WaitingLanes, f.PausedLanes, f.InFlight, f.CircuitOpen = waiting, paused, inFlight, stand
}

// waited takes note of how long a lane waited for its turn.
func (m *meter) waited(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	place := &m.waits[m.turns%waitsKept]
	m.waitedIn += d - *place
	*place = d
	m.turns++
}

// took takes note of what was taken out of the store.
func (m *meter) took(t Turn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := &m.stats
	f.Expired += int64(t.Expired)
	f.Dropped += int64(t.Dropped)
	if t.Message != nil && t.Message.Row.Repeated && !t.Message.isUsedUp() {
		f.PossibleDuplicates += int64(t.Message.concerned(t.Message.Count))
	}
}

// heard takes note of the end of a request.
func (m *meter) heard(r result) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := &m.stats
	switch {
	case r.Failure == nil && !r.attempted:
		f.Skipped++
	case r.Failure == nil:
		covered := r.Message.concerned(r.covered())
		f.Sent++
		f.Delivered += int64(covered)
		if covered > 1 {
			f.Merged += int64(covered)
			f.MergedMessages++
		}
		f.Dropped += int64(max(0, covered-len(r.Message.Items)))
	case r.Failure.Class == RateLimited:
		f.Limited++
		if r.Failure.RetryAfter > longWait {
			f.LongWaits++
		}
	case r.Failure.Class == Uncertain:
		f.Uncertain += int64(r.Message.concerned(r.covered()))
	case r.Failure.Class == Rejected || r.Dead:
		f.Died++
	case r.Failure.Class == Obsolete:
		f.Expired++
	}
}

// concerned returns how many items of the store a message of so many is about: what an edit says anew was told before.
func (m Message) concerned(items int) int {
	if m.Action != Send {
		return 1
	}
	return items
}
