// Package queuemodel is a model of a correct outbound queue. It checks a queue by what is visible
// from outside: the items added, what is taken from the store and persisted there, the requests
// made, and what arrives. It knows nothing about how a queue works, so it must not import one.
//
// A [Model] must be notified of every event in order. [Model.Verdict] returns the
// violations that it found.
package queuemodel

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Lane is a queue of a chat.
type Lane struct {
	Chat int64
	Kind LaneKind
}

// LaneKind is the kind of items in a lane.
type LaneKind int

// The kinds of lanes. All but CallbackAnswers share the limits of their chat.
const (
	Messages        LaneKind = iota
	CallbackAnswers          // answers to the buttons pressed in the chat
	// Pages are edits of the message with a pressed button. Of several waiting pages of a message,
	// only the newest is sent.
	Pages
	_
	Boards // messages that exist once; they wait until the chat has nothing else to send
)

func (l Lane) isPaced() bool { return l.Kind != CallbackAnswers }

// Item is one notice to be sent.
type Item struct {
	ID       int64
	Lane     Lane
	Private  bool      // its chat is private
	Deadline time.Time // the item may expire unsent from then on; zero: never
	// Object identifies what the item is about, and Says is its content. Several items may be about
	// one object; the last one determines its final content.
	Object, Says string
	// Harmless reports whether the item may be sent again without creating a duplicate.
	Harmless bool
}

// Window allows N requests in any time span of length Per.
type Window struct {
	N   int
	Per time.Duration
}

// Rules are what a queue must comply with.
type Rules struct {
	// Private, Group and Total limit the requests to a private chat, to any other
	// chat, and in total.
	Private, Group, Total []Window
	// Parallel limits the requests that one instance has in flight, and separately the
	// answers to buttons.
	Parallel    int
	MaxFailures int // failed requests after which an item is dead
	// Timeout limits one request. A request for a possible duplicate may take 8/5 of it, unless it
	// answers a button.
	Timeout time.Duration
	// Grace is how long to wait for a canceled request to return. The outcome of a request that
	// does not return by then is unknown.
	Grace time.Duration
	// Prompt reports whether waiting items may be delayed only by the failures that the model
	// is notified of.
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
	Sending State = "sending" // being sent, or possibly sent
	Sent    State = "sent"
	Dead    State = "dead"
	Expired State = "expired"
	// Uncertain items have too many possible duplicates and are not sent again.
	Uncertain State = "uncertain"
	// Summarized items are reported by another item.
	Summarized State = "summarized"
)

// Model is the model of a queue.
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
	// overlapped reports whether a request overlapped the work of the next leader, so that objects
	// may have any content.
	overlapped  bool
	limitHits   int // requests that used up a limit
	failures    int // failed requests
	requests    int // ended requests
	storeErrors int // failed calls of the store
	history     []string
	violations  []error
}

type lane struct {
	items []*item
	take  *take // the latest
	chat  *chat // shared by all lanes but CallbackAnswers
	hold  hold  // after the last failure
	// extraWait is how much longer the lane may wait because of possible duplicates.
	extraWait time.Duration

	readySince                      time.Time // when its first item could be sent
	failures, requests, storeErrors int       // the model's counts at that moment
}

// chat is the state that all lanes of a chat but CallbackAnswers share.
type chat struct {
	refused bool      // the last request was refused
	parked  time.Time // no requests until then because of that refusal
	// tried is when a request after that refusal began whose outcome is not persisted yet.
	tried    time.Time
	unparked time.Time // when the chat was last unparked
	frozen   time.Time // no requests until then under any leader
}

// hold is the pause of a lane after a failure.
type hold struct {
	until     time.Time
	request   *Request // the failed one
	lane      bool     // applies to the whole lane, not only to the item
	persisted bool     // known to all instances, not only to the one that made the request
}

func (h hold) blocks(r *Request) bool {
	return h.request != nil && (h.persisted || h.request.epoch == r.epoch) && (h.lane || h.request.items[0] == r.items[0])
}

type item struct {
	Item
	put      time.Time
	state    State
	copies   int // copies that have arrived
	repeats  int // times that it was taken again as a possible duplicate
	failures int // persisted failures
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
	// mustRepeat is exactly what the request must cover; nil: any number of items from the first.
	mustRepeat     []*item
	repeated       bool     // they are possible duplicates
	unknownToTaker bool     // the instance did not receive the answer of the store
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

	delivered bool // the items can be read
	returned  bool
	answer    Answer
}

type arrival struct {
	chat    int64
	private bool
	at      time.Time
}

// New returns the model of an empty queue.
func New(rules Rules, now func() time.Time) *Model {
	return &Model{
		rules: rules, now: now, lanes: make(map[Lane]*lane), items: make(map[int64]*item), contents: make(map[string]string),
	}
}

// Verdict returns the violations found so far, and those that are visible only at the end. Call it
// when the queue has had all the time that it needs.
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

// History returns all events, one per line.
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

// Replaced records that a newer item took the place of an item that was not taken yet.
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

// Summarizes records that from now on an item also reports these other items of its lane. A summary
// never expires.
func (m *Model) Summarizes(id int64, others []int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.note("item %d summarizes %v", id, others)
	summary := m.items[id]
	for _, other := range append([]int64{id}, others...) {
		i := m.items[other]
		if i.Lane != summary.Lane || other < id {
			m.violation("item %d of %v, which comes after others of them, summarizes item %d of %v", id, summary.Lane, other, i.Lane)
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

// Leads records that an instance may dispatch from now on, under a new epoch.
func (m *Model) Leads(epoch int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.note("epoch %d begins", epoch)
	m.leader = epoch
}

// Trouble records that a call of the store failed.
func (m *Model) Trouble() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.note("a call of the store failed")
	m.storeErrors++
}

// Parked records that a chat was persisted as parked. From then on one request may try whether it
// is refused again.
func (m *Model) Parked(chat int64, until time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.note("chat %d is parked until %s", chat, until.Format("15:04:05.000"))
	c := m.lane(Lane{Chat: chat}).chat
	c.refused, c.parked, c.tried = true, until, time.Time{}
}

// Unpark records that a parked chat may be written to like any other.
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

// markReady records that from now on nothing in the lane itself makes it wait.
func (m *Model) markReady(l *lane) {
	l.readySince, l.failures, l.requests, l.storeErrors = m.now(), m.failures, m.requests, m.storeErrors
}
