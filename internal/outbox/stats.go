package outbox

import (
	"slices"
	"sync"
	"time"
)

// Stats holds the measurements of a dispatcher. Counters are 0 when the process starts. The metric
// and help tags hold the name and the help text of each Prometheus metric; counters end in _total.
type Stats struct {
	Dispatching bool `json:"dispatching" metric:"outbox_dispatching" help:"1 if this instance sends, 0 if it is on standby."`

	Waiting     int           `json:"waiting" metric:"outbox_waiting_items" help:"Items waiting to be sent."`
	Largest     []ChatBacklog `json:"largest"` // up to 20 chats with the most waiting items
	EnqueueRate float64       `json:"enqueue_rate" metric:"outbox_enqueued_items_per_second" help:"Items added per second, over the last minute."`
	Dead        int           `json:"dead" metric:"outbox_dead_items" help:"Current dead letters."`

	WaitingLanes int     `json:"waiting_lanes" metric:"outbox_waiting_lanes" help:"Lanes that may send now and wait for their turn."`
	InFlight     int     `json:"in_flight" metric:"outbox_requests_in_flight" help:"Requests to Telegram in flight or being prepared."`
	AverageWait  float64 `json:"average_wait_seconds" metric:"outbox_average_wait_seconds" help:"Average time that a lane that may send waits for its turn, over about the last 1,000 turns."`
	CircuitOpen  bool    `json:"circuit_open" metric:"outbox_circuit_open" help:"1 if all lanes are paused, because many chats are rate limited or requests fail."`

	Sent               int64 `json:"sent" metric:"outbox_sent_messages_total" help:"Messages sent, including edits and answers to pressed buttons."`
	Delivered          int64 `json:"delivered" metric:"outbox_delivered_items_total" help:"Items covered by sent messages."`
	Merged             int64 `json:"merged" metric:"outbox_merged_items_total" help:"Items sent in a message together with others."`
	MergedMessages     int64 `json:"merged_messages" metric:"outbox_merged_messages_total" help:"Messages that covered several items."`
	Dropped            int64 `json:"dropped" metric:"outbox_dropped_items_total" help:"Results that went into a summary, and answers that expired, because too many items waited."`
	Expired            int64 `json:"expired" metric:"outbox_expired_items_total" help:"Items that expired or became obsolete."`
	Skipped            int64 `json:"skipped" metric:"outbox_skipped_edits_total" help:"Edits skipped because the message already showed the content."`
	RateLimited        int64 `json:"rate_limited" metric:"outbox_rate_limited_total" help:"Times that Telegram asked to wait (429)."`
	PossibleDuplicates int64 `json:"possible_duplicates" metric:"outbox_possible_duplicates_total" help:"Items sent again although a previous request may have delivered them."`
	Uncertain          int64 `json:"uncertain" metric:"outbox_uncertain_items_total" help:"Items given up after too many possible duplicates."`
	DeadLetters        int64 `json:"died" metric:"outbox_died_items_total" help:"Items that became dead letters."`
}

const (
	keptWaits  = 1000        // the average wait covers about this many turns
	rateWindow = time.Minute // the rate of new items is measured over this time
)

type statsRecorder struct {
	mu    sync.Mutex
	stats Stats

	turns int    // turns in the average wait, up to keptWaits
	ids   []idAt // the newest item's id at each survey in rateWindow; the previous survey is always kept
}

type idAt struct {
	id int64
	at time.Time
}

func (s *statsRecorder) read() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	stats := s.stats
	stats.Largest = slices.Clone(stats.Largest)
	return stats
}

// dispatching sets whether this instance is the leader. It resets the gauges that only a leader
// updates, except the average wait.
func (s *statsRecorder) dispatching(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stats := &s.stats
	stats.Dispatching = on
	stats.Waiting, stats.Largest, stats.EnqueueRate, stats.Dead = 0, nil, 0, 0
	stats.WaitingLanes, stats.InFlight, stats.CircuitOpen = 0, 0, false
	s.ids = nil
}

func (s *statsRecorder) surveyed(survey Survey, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stats := &s.stats
	stats.Waiting, stats.Largest, stats.Dead = survey.Waiting, survey.Largest, survey.Dead
	for len(s.ids) > 1 && now.Sub(s.ids[0].at) > rateWindow {
		s.ids = s.ids[1:]
	}
	s.ids = append(s.ids, idAt{survey.LastID, now})
	if first := s.ids[0]; now.After(first.at) {
		stats.EnqueueRate = float64(survey.LastID-first.id) / now.Sub(first.at).Seconds()
	}
}

func (s *statsRecorder) lanes(waiting, inFlight int, circuitOpen bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.WaitingLanes, s.stats.InFlight, s.stats.CircuitOpen = waiting, inFlight, circuitOpen
}

// waited adds a lane's wait for its turn to the average. The weight of older turns decays.
func (s *statsRecorder) waited(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turns = min(s.turns+1, keptWaits)
	s.stats.AverageWait += (d.Seconds() - s.stats.AverageWait) / float64(s.turns)
}

func (s *statsRecorder) taken(t Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.Message != nil && t.Message.Row.Repeated && !t.Message.isExhausted() {
		s.stats.PossibleDuplicates += int64(t.Message.storedItems(len(t.Message.Items)))
	}
}

func (s *statsRecorder) summarized(ended Summarized) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Expired += int64(ended.Expired)
	s.stats.Dropped += int64(ended.Dropped)
}

func (s *statsRecorder) finished(r result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stats := &s.stats
	switch {
	case r.Failure == nil && r.Skipped:
		stats.Skipped++
	case r.Failure == nil:
		covered := r.CoveredRows()
		stats.Sent++
		stats.Delivered += int64(covered)
		if covered > 1 {
			stats.Merged += int64(covered)
			stats.MergedMessages++
		}
	case r.Failure.Kind == RateLimited:
		stats.RateLimited++
	case r.Failure.Kind == Uncertain:
		stats.Uncertain += int64(r.CoveredRows())
	case r.Failure.Kind == Rejected || r.Dead:
		stats.DeadLetters++
	case r.Failure.Kind == Obsolete:
		stats.Expired++
	}
}

// storedItems returns how many rows the given number of items of a message stands for. Only Send
// has one row for each item. Every other action has a single row: an edit may contain several
// items, but they were sent before.
func (m Message) storedItems(items int) int {
	if m.Action != Send {
		return 1
	}
	return items
}
