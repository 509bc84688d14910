package outbox

import (
	"cmp"
	"slices"
	"time"

	"elobot/internal/notice"
	"elobot/internal/outbox/queuemodel"
)

type rowState = queuemodel.State

const (
	rowPlanned            = queuemodel.Waits
	rowSending            = queuemodel.Sending
	rowSent               = queuemodel.Sent
	rowDead               = queuemodel.Dead
	rowExpired            = queuemodel.Expired
	rowUncertain          = queuemodel.Uncertain
	rowDeferred  rowState = "deferred"
)

type row struct {
	Item
	script    addition // in a scenario: what the row was made from
	object    string   // key in memory.shown; without an entry there, target and known apply
	chat      ChatID
	action    Action
	purpose   notice.Purpose
	thread    int64
	target    int64
	known     string
	created   time.Time
	expires   time.Time // zero: never
	notBefore time.Time

	state     rowState
	batch     int64 // id of the first row of the message that covers it; 0 while it waits
	messageID int64
	lastError string
}

func (r *row) open() bool { return r.state == rowPlanned || r.state == rowSending }

func (r *row) lane() Lane { return laneOf(r.chat, r.action) }

func byID(a, b *row) int { return cmp.Compare(a.ID, b.ID) }

// laneOf returns the lane of a chat that holds rows with the given action.
func laneOf(chat ChatID, action Action) Lane {
	kinds := map[Action]LaneKind{CallbackAnswer: CallbackAnswers, Page: Pages, Ensure: Boards}
	return Lane{chat, kinds[action]}
}

// add adds a row for each chat, and returns the id of the last one.
func (m *memory) add(chats ...ChatID) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range chats {
		m.addRow(&row{chat: c})
	}
	return int64(len(m.rows))
}

// put adds a row and returns its id.
func (m *memory) put(r row) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.addRow(&r)
	return int64(len(m.rows))
}

func (m *memory) addRow(r *row) {
	r.ID, r.state = int64(len(m.rows)+1), rowPlanned
	if r.created.IsZero() {
		r.created = time.Now()
	}
	r.Kind = cmp.Or(r.Kind, "test")
	r.action, r.purpose = cmp.Or(r.action, Send), cmp.Or(r.purpose, notice.Outcome)
	m.rows = append(m.rows, r)
	m.lanes[r.lane()] = append(m.lanes[r.lane()], r)
}

func (m *memory) unpark(chat ChatID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.parked, chat)
}

func (m *memory) isParked(chat ChatID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.blocked(Lane{Chat: chat})
}

// freeze stores a pause of a chat, as another instance would.
func (m *memory) freeze(chat ChatID, pause time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.frozen[chat] = chatPause{until: time.Now().Add(pause)}
}

func (m *memory) thaw(chat ChatID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.frozen, chat)
}

// move sets the messenger's id of a chat.
func (m *memory) move(chat ChatID, to int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.moved[chat] = to
}

// to returns the messenger's id of a chat.
func (m *memory) to(chat ChatID) int64 { return cmp.Or(m.moved[chat], -int64(chat)) }

// handOver makes the epoch current, so that writes of other epochs fail.
func (m *memory) handOver(epoch int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.epoch = epoch
}

func (m *memory) row(id int64) row {
	m.mu.Lock()
	defer m.mu.Unlock()
	return *m.rows[id-1]
}

// open returns how many rows wait or are being sent.
func (m *memory) open() int {
	return m.count(rowPlanned) + m.count(rowSending)
}

func (m *memory) count(state rowState) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for _, r := range m.rows {
		if r.state == state {
			n++
		}
	}
	return n
}

// openIn returns the rows of a lane that wait or are being sent, oldest first.
func (m *memory) openIn(l Lane) []*row {
	open := slices.DeleteFunc(m.lanes[l], func(r *row) bool { return !r.open() })
	if len(open) == 0 {
		delete(m.lanes, l)
	} else {
		m.lanes[l] = open
	}
	return open
}
