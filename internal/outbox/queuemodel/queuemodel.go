// Package queuemodel says what an outbound queue owes, and judges one by what is seen of it from outside: what is put
// into it, what is taken out of its store and written down there, which requests are made, and what arrives. It knows
// nothing of how a queue does its work, and so it must not import one.
//
// A [Model] is told everything in the order in which it happens. What it finds wrong is the error of [Model.Verdict].
package queuemodel

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Lane is a queue: what a chat is told, or the answers to the buttons that were pressed in it.
type Lane struct {
	Chat   int64
	Toasts bool
}

// Item is one thing to be told.
type Item struct {
	ID       int64
	Lane     Lane
	Private  bool      // its chat is one with one person
	Deadline time.Time // from then on it may end without having been told; zero: it may not
	// Object is what it says something about, and Says what that is. Several items may be about one object, which says
	// afterwards what the last one of them wants.
	Object, Says string
	// Harmless says that telling it again makes no copy.
	Harmless bool
}

// Window allows N requests in any span of time of the length Per.
type Window struct {
	N   int
	Per time.Duration
}

// Rules are what a queue has to keep to.
type Rules struct {
	Private, Group, Total []Window // requests to a chat with one person, to each other chat, and to all together
	Parallel              int      // requests at the same time by one instance, and as many answers to buttons
	MaxFailures           int      // failed requests after which an item is dead
	// Timeout is how long a request may take. One for what was perhaps sent once may take twice as long, twice: four times,
	// and more often: six times, but of such requests of one instance there is one at a time.
	Timeout time.Duration
	// Grace is how long a request is waited for that was cut off. Of one that does not come back by then nobody knows what
	// has become of it.
	Grace time.Duration
	// Prompt says that nothing but the failures that the model is told of holds up what waits.
	Prompt bool
}

// Answer is what comes back for a request.
type Answer string

// The answers.
const (
	Told         Answer = ""
	RateLimited  Answer = "rate_limited"
	Unreachable  Answer = "unreachable"
	Ambiguous    Answer = "ambiguous"
	Unauthorized Answer = "unauthorized"
	Migrated     Answer = "migrated"
	Gone         Answer = "gone"
	Failed       Answer = "failed"
	Rejected     Answer = "rejected"
	Pointless    Answer = "pointless"
)

// State is how an item stands in the store.
type State string

// The states.
const (
	Waits   State = "waits"
	Perhaps State = "perhaps" // it is being sent, or has perhaps been sent
	Sent    State = "sent"
	Dead    State = "dead"
	Expired State = "expired"
	// Uncertain is what has perhaps been sent so often that it is not sent again.
	Uncertain State = "uncertain"
)

// Model is a queue as it has to be.
type Model struct {
	rules Rules
	now   func() time.Time

	mu       sync.Mutex
	lanes    map[Lane]*lane
	items    map[int64]*item
	order    []*item           // as they were put in
	says     map[string]string // what the objects say
	arrivals []arrival
	underWay []*Request
	longer   []*Request // those that have taken longer than the timeout
	leader   int64
	// disturbed says that a request has overlapped the work of the next leader, so that objects may say anything.
	disturbed bool
	full      int // requests that were the last ones that a limit allowed
	failures  int // requests that have failed
	requests  int // requests that have ended
	troubles  int // calls of the store that went wrong
	history   []string
	wrong     []error
}

type lane struct {
	items  []*item
	take   *take // the last one
	parked bool
	// frozen is until when nothing may be sent, whoever dispatches
	frozen time.Time
	hold   hold // after the last failure
	// patience is how much longer than others it may wait, because of what was perhaps sent
	patience time.Duration

	clearFrom                    time.Time // from then on its first item could go
	failures, requests, troubles int       // those of the model at that moment
}

// hold is for how long a failure keeps a lane.
type hold struct {
	until   time.Time
	request *Request // that has failed
	lane    bool     // it keeps the whole lane, and not only what was to be told
	written bool     // all know of it, and not only who has made the request
}

func (h hold) keeps(r *Request) bool {
	return h.request != nil && (h.written || h.request.by == r.by) && (h.lane || h.request.told[0] == r.told[0])
}

type item struct {
	Item
	state    State
	copies   int // that have arrived
	again    int // times that it was taken once more because it had perhaps been sent
	failures int // that were written down
}

func (i *item) ended() bool {
	return i.state == Sent || i.state == Dead || i.state == Expired || i.state == Uncertain
}

// isUsedUp says that no more copies of it may be made.
func (i *item) isUsedUp() bool { return !i.Harmless && i.again >= copies }

// take is what was taken out of the store for one request.
type take struct {
	by      int64 // the epoch
	items   []*item
	same    []*item  // what the request has to tell exactly; nil: whatever it likes from the first one on
	again   bool     // they were perhaps sent before
	unheard bool     // who has taken it does not know
	request *Request // nil: there was none yet
}

// Request is one request to the messenger.
type Request struct {
	by      int64 // the epoch
	lane    Lane
	told    []*item
	private bool
	excused bool
	begun   time.Time
	again   int       // how often before what it tells was perhaps sent
	cut     time.Time // when it was asked to come back; zero: not yet
	last    time.Time // when it was at its end, of one that has taken longer than the timeout

	delivered bool // what it tells can be read
	back      bool // it has come back
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
		rules: rules, now: now, lanes: make(map[Lane]*lane), items: make(map[int64]*item), says: make(map[string]string),
	}
}

// Verdict says what was wrong, and what is wrong at the end, when everything has had the time that it needs.
func (m *Model) Verdict() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, i := range m.order {
		switch {
		case !i.ended():
			m.complain("item %d is lost: in the end it is %q", i.ID, i.state)
		case i.copies-1 > i.again:
			m.complain("item %d arrives %d times, perhaps sent %d times", i.ID, i.copies, i.again)
		}
	}
	const most = 5 // what comes after the first ones mostly follows from them
	return errors.Join(m.wrong[:min(len(m.wrong), most)]...)
}

// History returns what has happened, line by line.
func (m *Model) History() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.history)
}

// note takes note of something that happens.
func (m *Model) note(format string, args ...any) {
	m.history = append(m.history, m.now().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
}

// complain takes note of something that is wrong.
func (m *Model) complain(format string, args ...any) {
	m.note("WRONG: "+format, args...)
	m.wrong = append(m.wrong, errors.New(m.history[len(m.history)-1]))
}

func (m *Model) lane(key Lane) *lane {
	l, ok := m.lanes[key]
	if !ok {
		l = &lane{}
		m.lanes[key] = l
	}
	return l
}

// Put says that an item was put into the queue.
func (m *Model) Put(i Item) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.note("item %d is put into %v", i.ID, i.Lane)
	l, added := m.lane(i.Lane), &item{Item: i, state: Waits}
	if l.first() == nil {
		m.clear(l)
	}
	l.items = append(l.items, added)
	m.items[i.ID] = added
	m.order = append(m.order, added)
}

// Leads says that an instance may dispatch from now on, under an epoch of its own.
func (m *Model) Leads(epoch int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.note("epoch %d begins", epoch)
	m.leader = epoch
}

// Trouble says that a call of the store went wrong.
func (m *Model) Trouble() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.note("the store is in trouble")
	m.troubles++
}

// Parked says that it was written down that a chat cannot be written to.
func (m *Model) Parked(chat int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.note("chat %d is parked", chat)
	m.lane(Lane{Chat: chat}).parked = true
}

// Heard says that a chat that could not be written to can be again.
func (m *Model) Heard(chat int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.note("chat %d is heard of", chat)
	l := m.lane(Lane{Chat: chat})
	l.parked = false
	m.clear(l)
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

// clear says that from now on, nothing of its own keeps a lane.
func (m *Model) clear(l *lane) {
	l.clearFrom, l.failures, l.requests, l.troubles = m.now(), m.failures, m.requests, m.troubles
	l.patience = 0
}
