// Package queuemodel is a model of a correct outbound queue. It checks a queue by what is visible
// from outside: the items added, what is taken from the store and persisted there, the requests
// made, and what arrives. It must not import the queue's package, so that it does not share the
// bugs of the queue.
//
// Tests notify a [Model] of all events in order. [Model.Verdict] returns the first few violations.
package queuemodel

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Lane identifies one of a chat's queues.
type Lane struct {
	Chat int64
	Kind LaneKind
}

// LaneKind is the kind of items in a lane.
type LaneKind int

// The kinds of lanes. Their values are those of outbox.LaneKind, whose kind SetAside the model does
// not have. Requests in CallbackAnswers do not count against the rate limits.
const (
	Messages        LaneKind = iota
	CallbackAnswers          // answers to the buttons pressed in the chat
	// Pages are edits of the message with a pressed button. Of several waiting pages of a message,
	// only the newest is sent.
	Pages
	_
	Boards // messages that exist once; Messages and Pages go first
)

func (l Lane) isPaced() bool { return l.Kind != CallbackAnswers }

// Item is one notice to be sent.
type Item struct {
	ID       int64
	Lane     Lane
	Private  bool      // the chat is private
	Deadline time.Time // from then on the item may expire unsent; zero: no deadline
	// Object identifies what the item is about, and Says is its content. Several items may be about
	// one object; the last one to arrive determines the object's content.
	Object, Says string
	// Harmless means that sending the item again creates no duplicate.
	Harmless bool
}

// Window allows at most N requests in any time span of length Per.
type Window struct {
	N   int
	Per time.Duration
}

// Rules configures the checks of a Model.
type Rules struct {
	// Private limits the requests to each private chat, Group the requests to each chat that is not
	// private, and Total the requests to all chats together.
	Private, Group, Total []Window
	// Parallel limits the requests that one instance has in flight. Callback answers are counted
	// separately, against the same limit.
	Parallel    int
	MaxFailures int // number of answers Failed after which an item is dead
	// Timeout limits one request. A request for a possible duplicate may take 8/5 of it, except for
	// a callback answer.
	Timeout time.Duration
	// Grace is how long to wait for a canceled request to return. The outcome of a request that
	// does not return by then is unknown.
	Grace time.Duration
	// Prompt makes the model check that no item waits for too long, given the failures that the
	// model is notified of, and that boards wait for messages and pages.
	Prompt bool
}

// Answer is the messenger's answer to a request.
type Answer string

const (
	Delivered    Answer = ""
	RateLimited  Answer = "rate_limited"
	Unreachable  Answer = "unreachable"
	Ambiguous    Answer = "ambiguous"
	Unauthorized Answer = "unauthorized"
	Migrated     Answer = "migrated"
	Forbidden    Answer = "forbidden"
	Failed       Answer = "failed"
	Rejected     Answer = "rejected"
	Obsolete     Answer = "obsolete"
)

// State is the state of an item in the store.
type State string

const (
	Waits   State = "waits"
	Sending State = "sending" // taken for a request whose outcome is pending or unknown
	Sent    State = "sent"
	Dead    State = "dead"
	Expired State = "expired"
	// Uncertain items were given up because of too many possible duplicates.
	Uncertain State = "uncertain"
	// Summarized items are part of another item, their summary.
	Summarized State = "summarized"
)

// Model follows a queue and records its violations. It is safe for concurrent use.
type Model struct {
	rules Rules
	now   func() time.Time

	mu       sync.Mutex
	lanes    map[Lane]*lane
	items    map[int64]*item
	order    []*item           // in the order of Put
	contents map[string]string // current content of the objects
	arrivals []arrival
	inFlight []*Request
	leader   int64
	// overlapped means that an excused request has arrived. Objects may have any content then,
	// because the request may have overlapped requests of the next leader.
	overlapped  bool
	limitHits   int // how often a request used up a limit
	failures    int // failed requests that may make all lanes pause
	requests    int // ended requests
	storeErrors int // failed calls to the store
	history     []string
	violations  []error
}

type lane struct {
	items []*item
	take  *take // the latest
	chat  *chat // shared by all lanes but CallbackAnswers
	hold  hold  // after the last request that ended
	// extraWait is how much longer the lane may wait because of possible duplicates.
	extraWait time.Duration

	readySince                      time.Time // when its last wait began
	failures, requests, storeErrors int       // the model's counts at that moment
}

// chat is the state that the lanes of a chat share, except for CallbackAnswers.
type chat struct {
	refused bool      // the chat was parked and not unparked since
	parked  time.Time // no requests until then
	// tried is when a request to the parked chat was taken. It is zero once the outcome of that
	// request is persisted.
	tried    time.Time
	unparked time.Time // when the chat was last unparked
	frozen   time.Time // no requests until then under any leader
}

// hold is the pause of a lane after a request. Without a failure, it is over at once.
type hold struct {
	until     time.Time
	request   *Request // the request that ended
	lane      bool     // the whole lane pauses, not only the item
	persisted bool     // every instance must heed it, not only the instance that made the request
}

func (h hold) blocks(r *Request) bool {
	return h.request != nil && (h.persisted || h.request.epoch == r.epoch) && (h.lane || h.request.items[0] == r.items[0])
}

type item struct {
	Item
	put      time.Time
	state    State
	copies   int // times that it arrived
	repeats  int // times that it was taken again as a possible duplicate
	failures int // persisted answers of the kind Failed
}

func (i *item) ended() bool {
	return i.state == Sent || i.state == Dead || i.state == Expired || i.state == Uncertain || i.state == Summarized
}

// isExhausted reports whether the item may create no more possible duplicates.
func (i *item) isExhausted() bool { return !i.Harmless && i.repeats >= maxCopies }

// take is a set of items that was taken from the store for one request.
type take struct {
	epoch int64 // of the instance that took it
	items []*item
	// mustRepeat holds the items that the request must cover. If it is nil, the request may cover
	// any number of items, counted from the first.
	mustRepeat     []*item
	repeated       bool     // the items are possible duplicates
	unknownToTaker bool     // the instance did not receive the store's answer
	request        *Request // nil: none yet
}

// Request is one request to the messenger.
type Request struct {
	epoch      int64 // of the instance that makes it
	lane       Lane
	items      []*item
	private    bool
	excused    bool
	begun      time.Time
	repeats    int       // earlier requests with an unknown outcome
	canceledAt time.Time // zero: not canceled

	delivered bool // the items have arrived in the chat
	returned  bool
	answer    Answer
}

type arrival struct {
	chat    int64
	private bool
	at      time.Time
}

// New returns the model of an empty queue. It gets the current time by calling now.
func New(rules Rules, now func() time.Time) *Model {
	return &Model{
		rules: rules, now: now, lanes: make(map[Lane]*lane), items: make(map[int64]*item), contents: make(map[string]string),
	}
}

// Verdict returns the first few violations, nil if there are none. Items that have not ended and
// unexplained duplicates are violations too, so call it only once, after the queue has had time to
// send everything.
func (m *Model) Verdict() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, i := range m.order {
		switch {
		case !i.ended():
			m.violation("item %d is lost: its final state is %q", i.ID, i.state)
		case i.copies-1 > i.repeats:
			m.violation("item %d arrived %d times, with %d possible duplicates", i.ID, i.copies, i.repeats)
		}
	}
	const maxShown = 5 // later violations mostly follow from the first ones
	return errors.Join(m.violations[:min(len(m.violations), maxShown)]...)
}

// History returns a line of text for each event, in order.
func (m *Model) History() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.history)
}

func (m *Model) note(format string, args ...any) {
	m.history = append(m.history, m.now().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
}

func (m *Model) violation(format string, args ...any) {
	m.note("WRONG: "+format, args...)
	m.violations = append(m.violations, errors.New(m.history[len(m.history)-1]))
}

func (m *Model) lane(key Lane) *lane {
	l, ok := m.lanes[key]
	if !ok {
		l = &lane{chat: new(chat)}
		if key.Kind == Pages || key.Kind == Boards {
			l.chat = m.lane(Lane{Chat: key.Chat}).chat
		}
		m.lanes[key] = l
	}
	return l
}

// Put records that an item was added to the queue.
func (m *Model) Put(i Item) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.note("item %d added to %v", i.ID, i.Lane)
	l, added := m.lane(i.Lane), &item{Item: i, state: Waits, put: m.now()}
	if l.first() == nil {
		m.markReady(l)
	}
	l.items = append(l.items, added)
	m.items[i.ID] = added
	m.order = append(m.order, added)
}

// Replaced records that an item got new content and a new deadline, which is allowed only until it
// is taken.
func (m *Model) Replaced(id int64, says string, deadline time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.note("item %d says %q now", id, says)
	i := m.items[id]
	if t := m.lane(i.Lane).take; i.state != Waits || t != nil && slices.Contains(t.items, i) {
		m.violation("item %d is replaced, but it was taken", id)
	}
	i.Says, i.Deadline = says, deadline
}

// Summarizes records that an item becomes the summary of other items. The other items must come
// later in the same lane. Neither they nor the summarizing item may have arrived. A summary never
// expires.
func (m *Model) Summarizes(id int64, others []int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.note("item %d summarizes %v", id, others)
	summary := m.items[id]
	for _, other := range append([]int64{id}, others...) {
		i := m.items[other]
		if i.Lane != summary.Lane || other < id {
			m.violation("item %d of %v, which comes after others of them, summarizes item %d of %v",
				id, summary.Lane, other, i.Lane)
		}
		if i.state != Waits || i.repeats > 0 {
			m.violation("item %d is summarized, but it may have arrived", other)
		}
		if other != id {
			i.state = Summarized
		}
	}
	summary.Deadline = time.Time{}
}

// Leads records that an instance has become the leader, under a new epoch.
func (m *Model) Leads(epoch int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.note("epoch %d begins", epoch)
	m.leader = epoch
}

// Trouble records that a call to the store failed.
func (m *Model) Trouble() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.note("a call of the store failed")
	m.storeErrors++
}

// Parked records that a chat was persisted as parked. After the given time, requests may test, one
// at a time, whether the bot may write to the chat again.
func (m *Model) Parked(chat int64, until time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.note("chat %d is parked until %s", chat, until.Format("15:04:05.000"))
	c := m.lane(Lane{Chat: chat}).chat
	c.refused, c.parked, c.tried = true, until, time.Time{}
}

// Unpark records that a chat is no longer parked.
func (m *Model) Unpark(chat int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.note("chat %d is active again", chat)
	for _, kind := range []LaneKind{Messages, Pages, Boards} {
		l := m.lane(Lane{chat, kind})
		l.chat.refused, l.chat.parked, l.chat.tried, l.chat.unparked = false, time.Time{}, time.Time{}, m.now()
		m.markReady(l)
	}
}

// first returns the first item that has not ended, nil if there is none.
func (l *lane) first() *item {
	for _, i := range l.items {
		if !i.ended() {
			return i
		}
	}
	return nil
}

// markReady starts the measurement of how long a lane waits.
func (m *Model) markReady(l *lane) {
	l.readySince, l.failures, l.requests, l.storeErrors = m.now(), m.failures, m.requests, m.storeErrors
}
