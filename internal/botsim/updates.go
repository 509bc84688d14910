package botsim

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"time"
)

const (
	firstUpdateID       = 731482905
	kindOfMessageUpdate = "message"
	updateRetention     = 24 * time.Hour
	// futureMargin is how far an offset may lie beyond the next update id. Offsets further ahead are ignored.
	futureMargin = 10
)

// notByDefault are the kinds of updates that a bot gets only if allowed_updates contains them.
var notByDefault = []string{"chat_member", "message_reaction", "message_reaction_count"}

type update struct {
	id   int64
	at   time.Time
	raw  []byte
	lane lane
	gone bool // confirmed, dropped or too old
}

// updateQueue holds the unconfirmed updates in ascending order of ids. The server's lock guards it.
type updateQueue struct {
	next    int64
	pending []*update // pending[head:] is the queue
	head    int
	allowed []string // nil: everything but notByDefault

	poller         *poll // the waiting long poll, if any
	lastOffset     int64
	lastPoll       time.Time
	lastHadUpdates bool // the previous response contained updates
}

func newUpdateQueue() updateQueue { return updateQueue{next: firstUpdateID} }

func (q *updateQueue) waiting() []*update { return q.pending[q.head:] }

// add inserts an update by its id, nearly always at the end, and wakes the waiting long poll.
func (q *updateQueue) add(u *update) {
	i := len(q.pending)
	for i > q.head && q.pending[i-1].id > u.id {
		i--
	}
	q.pending = slices.Insert(q.pending, i, u)
	if q.poller != nil {
		close(q.poller.wake)
		q.poller = nil
	}
}

// confirm removes the first n updates of the queue.
func (q *updateQueue) confirm(n int) {
	for _, u := range q.waiting()[:n] {
		u.gone = true
	}
	clear(q.pending[q.head : q.head+n])
	q.head += n
	if q.head > 64 && q.head > len(q.pending)/2 {
		q.pending = slices.Delete(q.pending, 0, q.head)
		q.head = 0
	}
}

// confirmOne removes one update from any position. It returns false if the update is gone already.
func (q *updateQueue) confirmOne(u *update) bool {
	switch waiting := q.waiting(); {
	case u.gone:
		return false
	case waiting[0] == u:
		q.confirm(1)
	default:
		u.gone = true
		i := q.head + slices.Index(waiting, u)
		q.pending = slices.Delete(q.pending, i, i+1)
	}
	return true
}

// confirmBelow removes the updates that an offset confirms and returns their number. An offset far beyond the next id
// confirms nothing: it dates from before the update ids restarted.
func (q *updateQueue) confirmBelow(offset int64) int {
	waiting := q.waiting()
	if offset < 0 {
		offset = q.next + offset
	}
	if offset <= 0 || offset > q.next+futureMargin {
		return 0
	}
	n := sort.Search(len(waiting), func(i int) bool { return waiting[i].id >= offset })
	q.confirm(n)
	return n
}

// expire removes updates that have been waiting for more than a day.
func (q *updateQueue) expire(now time.Time) {
	for waiting := q.waiting(); len(waiting) > 0 && now.Sub(waiting[0].at) > updateRetention; waiting = q.waiting() {
		q.confirm(1)
	}
}

func (q *updateQueue) allows(kind string) bool {
	if len(q.allowed) == 0 {
		return !slices.Contains(notByDefault, kind)
	}
	return slices.Contains(q.allowed, kind)
}

// sendUpdate queues an update if the bot allows its kind.
func (s *Server) sendUpdate(l lane, kind string, payload any) {
	if !s.queue.allows(kind) {
		return
	}
	body, err := json.Marshal(payload)
	if err != nil {
		s.complaints.add(fmt.Sprintf("encode %s update: %v", kind, err))
		return
	}
	id := s.queue.next
	s.queue.next++
	raw := slices.Concat([]byte(`{"update_id":`), strconv.AppendInt(nil, id, 10),
		[]byte(`,"`), []byte(kind), []byte(`":`), body, []byte(`}`))
	s.enqueue(&update{id: id, at: s.now(), raw: raw, lane: l})
}

func (s *Server) messageUpdate(kind string, m *message) {
	raw, err := m.wire()
	if err != nil {
		s.complaints.add(err.Error())
		return
	}
	s.sendUpdate(laneOfChat(m.ChatID), kind, raw)
}

// enqueue queues an update for getUpdates or the webhook.
func (s *Server) enqueue(u *update) {
	s.queue.add(u)
	s.enqueueForWebhook(u)
}

// Update queues a raw update and returns its id, regardless of allowed_updates. A JSON object without update_id gets
// the next id; one with update_id keeps it, even if that id was used before. Anything else, even invalid JSON, reaches
// the bot unchanged.
func (s *Server) Update(raw json.RawMessage) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, raw := s.identify(raw)
	switch {
	case id >= s.queue.next || len(s.queue.waiting()) == 0:
		// A lower id than the last one is valid too: ids restart after a week without updates.
		s.queue.next = id + 1
	}
	s.enqueue(&update{id: id, at: s.now(), raw: slices.Clone(raw), lane: rawLane(id, raw)})
	return id
}

// identify returns a raw update and its id. It adds an id to an object that has none.
func (s *Server) identify(raw json.RawMessage) (int64, json.RawMessage) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || fields == nil {
		return s.queue.next, raw
	}
	if given, ok := fields["update_id"]; ok {
		id, err := strconv.ParseInt(string(given), 10, 64)
		if err != nil {
			return s.queue.next, raw
		}
		return id, raw
	}
	id := s.queue.next
	extended, err := withFields(raw, map[string]any{"update_id": id})
	if err != nil {
		return id, raw
	}
	return id, extended
}

// RestartUpdateIDs sets the id of the next update, as Telegram does after a week without updates.
func (s *Server) RestartUpdateIDs(next int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.next = next
}

// Pending returns the number of unconfirmed updates.
func (s *Server) Pending() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.expire(s.now())
	return len(s.queue.waiting())
}
