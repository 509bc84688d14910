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
	// futureMargin is how far an offset may lie beyond the newest update and still be taken seriously.
	futureMargin = 10
)

// notByDefault are the kinds of updates that a bot gets only if it names them in allowed_updates.
var notByDefault = []string{"chat_member", "message_reaction", "message_reaction_count"}

type update struct {
	id   int64
	at   time.Time
	raw  []byte
	lane lane
	gone bool // confirmed, dropped or too old
}

// updateQueue holds what is not confirmed yet, in ascending order of ids. The server's lock guards it.
type updateQueue struct {
	next    int64
	pending []*update // pending[head:] is the queue
	head    int
	allowed []string // nil: everything but notByDefault

	poller     *poll // the long poll that waits, if any
	lastOffset int64
	lastPoll   time.Time
	lastGave   bool // the previous answer held updates
}

func newUpdateQueue() updateQueue { return updateQueue{next: firstUpdateID} }

func (q *updateQueue) waiting() []*update { return q.pending[q.head:] }

// add puts an update at its place, which is nearly always the end.
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

// confirm forgets the first n of the queue.
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

// confirmOne forgets one update, wherever it stands; false means that it is gone already.
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

// confirmBelow forgets what an offset confirms and tells how many that were. An offset beyond everything known
// says nothing: it comes from before update ids started anew.
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

// expire forgets what nobody has fetched for a day.
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

// sendUpdate queues an update of that kind if the bot wants it.
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

// enqueue hands an update to whoever fetches or is sent the updates.
func (s *Server) enqueue(u *update) {
	s.queue.add(u)
	s.toWebhook(u)
}

// Update queues an update as given and returns its id. A JSON object without update_id gets the next one; with
// one it is queued under that, also if it was used before. Anything else is handed to the bot untouched, also
// what cannot be decoded. allowed_updates does not hold it back.
func (s *Server) Update(raw json.RawMessage) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, raw := s.identify(raw)
	switch {
	case id >= s.queue.next || len(s.queue.waiting()) == 0:
		// An id that is lower than the last one is how ids start anew after a quiet week.
		s.queue.next = id + 1
	}
	s.enqueue(&update{id: id, at: s.now(), raw: slices.Clone(raw), lane: rawLane(id, raw)})
	return id
}

// identify finds the id of a raw update, or gives it one.
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

// RestartUpdateIDs makes the next update have that id, as after a week without any.
func (s *Server) RestartUpdateIDs(next int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.next = next
}

// Pending is how many updates are not confirmed yet.
func (s *Server) Pending() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.expire(s.now())
	return len(s.queue.waiting())
}
