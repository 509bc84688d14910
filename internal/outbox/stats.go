package outbox

import (
	"slices"
	"sync"
	"time"
)

// Stats are the measurements of a dispatcher. Counters start at 0 with the process.
type Stats struct {
	Dispatching bool `json:"dispatching"` // this instance holds the lease

	Waiting     int           `json:"waiting"`      // waiting items in the store
	Largest     []ChatBacklog `json:"largest"`      // the 20 chats with the most waiting items
	EnqueueRate float64       `json:"enqueue_rate"` // items added per second, over the last minute
	Dead        int           `json:"dead"`
	Deferred    int           `json:"deferred"` // items set aside for a newer release
	Frozen      int           `json:"frozen_chats"`
	Parked      int           `json:"parked_chats"`

	WaitingLanes int     `json:"waiting_lanes"`        // lanes that may send now and wait for their turn
	PausedLanes  int     `json:"paused_lanes"`         // lanes with something to send that may not send yet
	InFlight     int     `json:"in_flight"`            // requests in flight
	AverageWait  float64 `json:"average_wait_seconds"` // seconds that a ready lane waited, over about the last 1,000 turns
	CircuitOpen  bool    `json:"circuit_open"`         // all lanes are paused, because many chats are rate limited or most requests fail

	Sent               int64 `json:"sent"`                // messages sent
	Delivered          int64 `json:"delivered"`           // items that the messages covered
	Merged             int64 `json:"merged"`              // items sent in a message together with others
	MergedMessages     int64 `json:"merged_messages"`     // messages that covered several items
	Dropped            int64 `json:"dropped"`             // items that a summary stands for, or nothing, because too many waited
	Expired            int64 `json:"expired"`             // items that expired or became obsolete
	Skipped            int64 `json:"skipped"`             // edits that were unnecessary
	BoardCopies        int64 `json:"board_copies"`        // messages found that should exist once, besides the one that should
	TablesRefused      int64 `json:"tables_refused"`      // messages sent as text because the messenger refused them as a table
	RateLimited        int64 `json:"rate_limited"`        // times that the messenger asked to wait
	LongWaits          int64 `json:"long_waits"`          // times that it asked to wait for more than 10 minutes
	PossibleDuplicates int64 `json:"possible_duplicates"` // items sent again although a previous request may have delivered them
	Uncertain          int64 `json:"uncertain"`           // items given up after MaxPossibleDuplicates possible duplicates
	DeadLetters        int64 `json:"died"`                // items that became dead letters
}

const (
	keptWaits  = 1000        // about as many turns count in the average wait
	rateWindow = time.Minute // time over which the rate of new items is measured
)

// statsRecorder collects the Stats.
type statsRecorder struct {
	mu    sync.Mutex
	stats Stats

	turns int    // since the start, up to keptWaits
	ids   []idAt // the newest ids of the last minute
}

type idAt struct {
	id int64
	at time.Time
}

func (m *statsRecorder) read() Stats {
	m.mu.Lock()
	defer m.mu.Unlock()
	stats := m.stats
	stats.Largest = slices.Clone(stats.Largest)
	return stats
}

// dispatching sets whether this instance is the leader. Everything that only the leader measures is reset.
func (m *statsRecorder) dispatching(on bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	stats := &m.stats
	stats.Dispatching = on
	stats.Waiting, stats.Largest, stats.EnqueueRate, stats.Dead, stats.Deferred, stats.Frozen, stats.Parked = 0, nil, 0, 0, 0, 0, 0
	stats.WaitingLanes, stats.PausedLanes, stats.InFlight, stats.CircuitOpen = 0, 0, 0, false
	m.ids = nil
}

func (m *statsRecorder) surveyed(s Survey, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	stats := &m.stats
	stats.Waiting, stats.Largest, stats.Dead, stats.Deferred = s.Waiting, s.Largest, s.Dead, s.Deferred
	stats.Frozen, stats.Parked = s.Frozen, s.Parked
	for len(m.ids) > 1 && now.Sub(m.ids[0].at) > rateWindow {
		m.ids = m.ids[1:]
	}
	m.ids = append(m.ids, idAt{s.LastID, now})
	if first := m.ids[0]; now.After(first.at) {
		stats.EnqueueRate = float64(s.LastID-first.id) / now.Sub(first.at).Seconds()
	}
}

func (m *statsRecorder) lanes(waiting, paused, inFlight int, circuitOpen bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	stats := &m.stats
	stats.WaitingLanes, stats.PausedLanes, stats.InFlight, stats.CircuitOpen = waiting, paused, inFlight, circuitOpen
}

// waited notes how long a lane waited for its turn. Earlier turns count the less, the longer ago they are.
func (m *statsRecorder) waited(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.turns = min(m.turns+1, keptWaits)
	m.stats.AverageWait += (d.Seconds() - m.stats.AverageWait) / float64(m.turns)
}

func (m *statsRecorder) taken(t Turn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	stats := &m.stats
	if t.Message != nil && t.Message.Row.Repeated && !t.Message.isExhausted() {
		stats.PossibleDuplicates += int64(t.Message.storedItems(len(t.Message.Items)))
	}
}

func (m *statsRecorder) summarised(s Summarised) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stats.Expired += int64(s.Expired)
	m.stats.Dropped += int64(s.Dropped)
}

func (m *statsRecorder) finished(r result) {
	m.mu.Lock()
	defer m.mu.Unlock()
	stats := &m.stats
	switch {
	case r.Failure == nil && r.Skipped:
		stats.Skipped++
		stats.BoardCopies += int64(r.Copies)
	case r.Failure == nil:
		covered := r.Message.storedItems(r.coveredItems())
		stats.Sent++
		stats.BoardCopies += int64(r.Copies)
		if r.TableRefused {
			stats.TablesRefused++
		}
		stats.Delivered += int64(covered)
		if covered > 1 {
			stats.Merged += int64(covered)
			stats.MergedMessages++
		}
	case r.Failure.Kind == RateLimited:
		stats.RateLimited++
		if r.Failure.RetryAfter > longWait {
			stats.LongWaits++
		}
	case r.Failure.Kind == Uncertain:
		stats.Uncertain += int64(r.Message.storedItems(r.coveredItems()))
	case r.Failure.Kind == Rejected || r.Dead:
		stats.DeadLetters++
	case r.Failure.Kind == Obsolete:
		stats.Expired++
	}
}

// storedItems returns how many rows the given number of items of a message stands for. Only Send stands for all: an edit repeats items that
// were already sent.
func (m Message) storedItems(items int) int {
	if m.Action != Send {
		return 1
	}
	return items
}
