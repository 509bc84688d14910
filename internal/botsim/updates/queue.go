// Package updates implements the queue of updates that wait for the bot. An update stays in the
// queue until the bot confirms it or a day has passed. A polling bot gets the first updates of the
// queue from getUpdates, and confirms them with the offset of a later call. A webhook gets one
// update at a time from each lane, and confirms it with a 2xx response.
//
// A queue is not safe for concurrent use. The server guards it by the lock that also guards the
// changes that updates report, so that updates are queued in the order of the changes.
package updates

import (
	"bytes"
	"encoding/json"
	"slices"
	"sort"
	"time"
)

const (
	// firstID is the id of the first update. Telegram's ids begin with an arbitrary number too.
	firstID = 731482905
	// retention is how long an update waits before it is dropped.
	retention = 24 * time.Hour
	// futureMargin is how far an offset may lie beyond the next update id. Offsets further ahead
	// are ignored.
	futureMargin = 10
)

// notByDefault lists the kinds of updates that a bot gets only if allowed_updates contains them.
var notByDefault = []string{"chat_member", "message_reaction", "message_reaction_count"}

// Update is an entry of the queue. It records whether it has left the queue.
type Update struct {
	ID   int64
	At   time.Time
	Raw  []byte // the body that the bot gets; not always valid JSON
	Lane Lane
	gone bool
}

// Gone reports whether the update has left the queue, because it was confirmed or too old.
func (u *Update) Gone() bool { return u.gone }

// Queue holds the unconfirmed updates in ascending order of ids.
type Queue struct {
	Next    int64    // id of the next update
	Allowed []string // kinds of updates that the bot wants; empty: all but notByDefault

	pending []*Update // pending[head:] is the queue
	head    int

	poller         *Poll // the waiting long poll, if any
	lastOffset     int64
	lastPoll       time.Time
	lastHadUpdates bool // the previous response contained updates
}

// NewQueue returns an empty queue.
func NewQueue() *Queue { return &Queue{Next: firstID} }

// Waiting returns the unconfirmed updates. The result is valid until the queue changes.
func (q *Queue) Waiting() []*Update { return q.pending[q.head:] }

// Add inserts an update before all updates with higher ids, and wakes the waiting long poll, if
// any.
func (q *Queue) Add(u *Update) {
	i := len(q.pending)
	for i > q.head && q.pending[i-1].ID > u.ID {
		i--
	}
	q.pending = slices.Insert(q.pending, i, u)
	if q.poller != nil {
		close(q.poller.Wake)
		q.poller = nil
	}
}

// Confirm removes the first n updates of the queue.
func (q *Queue) Confirm(n int) {
	for _, u := range q.Waiting()[:n] {
		u.gone = true
	}
	clear(q.pending[q.head : q.head+n])
	q.head += n
	if q.head > 64 && q.head > len(q.pending)/2 {
		q.pending = slices.Delete(q.pending, 0, q.head)
		q.head = 0
	}
}

// ConfirmOne removes one update from any position. It reports whether the update was in the queue.
func (q *Queue) ConfirmOne(u *Update) bool {
	switch waiting := q.Waiting(); {
	case u.gone:
		return false
	case waiting[0] == u:
		q.Confirm(1)
	default:
		u.gone = true
		i := q.head + slices.Index(waiting, u)
		q.pending = slices.Delete(q.pending, i, i+1)
	}
	return true
}

// ConfirmBelow removes the updates that an offset confirms and returns their number. A negative
// offset counts back from the next id. An offset of 0 confirms nothing. An offset far beyond the
// next id confirms nothing either, because it may date from before the update ids restarted.
func (q *Queue) ConfirmBelow(offset int64) int {
	waiting := q.Waiting()
	if offset < 0 {
		offset = q.Next + offset
	}
	if offset <= 0 || offset > q.Next+futureMargin {
		return 0
	}
	n := sort.Search(len(waiting), func(i int) bool { return waiting[i].ID >= offset })
	q.Confirm(n)
	return n
}

// Expire removes updates from the head of the queue until the first update has waited for at most a
// day.
func (q *Queue) Expire(now time.Time) {
	for waiting := q.Waiting(); len(waiting) > 0 && now.Sub(waiting[0].At) > retention; waiting = q.Waiting() {
		q.Confirm(1)
	}
}

// Allows reports whether the bot wants updates of a kind.
func (q *Queue) Allows(kind string) bool {
	if len(q.Allowed) == 0 {
		return !slices.Contains(notByDefault, kind)
	}
	return slices.Contains(q.Allowed, kind)
}

// sameOffsetTime is the time during which a repeated getUpdates with the same offset gets at most
// one update, if the call before it got any.
const sameOffsetTime = 500 * time.Millisecond

// Poll is a call of getUpdates that waits for an update.
type Poll struct {
	Wake     chan struct{} // closed when there is an update
	Conflict chan struct{} // closed when another request terminates this one
	Reason   error         // the error to return; set before Conflict is closed
}

// Wait registers a call of getUpdates as the waiting long poll. No other long poll may be waiting;
// see [Queue.Terminate].
func (q *Queue) Wait() *Poll {
	q.poller = &Poll{Wake: make(chan struct{}), Conflict: make(chan struct{})}
	return q.poller
}

// Terminate ends the waiting long poll, if any, with an error.
func (q *Queue) Terminate(reason error) {
	if q.poller != nil {
		q.poller.Reason = reason
		close(q.poller.Conflict)
		q.poller = nil
	}
}

// Leave ends the wait of p if it is still the waiting long poll.
func (q *Queue) Leave(p *Poll) {
	if q.poller == p {
		q.poller = nil
	}
}

// ShowFrom is like Show, for a getUpdates that has just arrived with an offset. A bot that got
// updates and repeats the offset within sameOffsetTime gets at most one update.
func (q *Queue) ShowFrom(now time.Time, offset int64, limit int) List {
	if offset == q.lastOffset && q.lastHadUpdates && now.Sub(q.lastPoll) < sameOffsetTime {
		limit = 1
	}
	q.lastOffset, q.lastPoll = offset, now
	return q.Show(limit)
}

// Show returns the first updates of the queue, at most limit. It confirms nothing.
func (q *Queue) Show(limit int) List {
	waiting := q.Waiting()
	shown := make(List, 0, min(limit, len(waiting)))
	for _, u := range waiting[:min(limit, len(waiting))] {
		shown = append(shown, u.Raw)
	}
	q.lastHadUpdates = len(shown) > 0
	return shown
}

// List holds updates in the form that the bot gets.
type List [][]byte

// JSON returns the list as an array. An update that is not valid JSON is written unchanged.
func (l List) JSON() []byte {
	return append(append([]byte{'['}, bytes.Join(l, []byte{','})...), ']')
}

// Lane identifies a series of updates that the webhook gets one at a time and in order.
type Lane struct {
	kind laneKind
	id   int64
}

type laneKind int

const (
	chatLane   laneKind = iota // the updates of one chat
	pressLane                  // the button presses of one user
	singleLane                 // a single update that belongs to no chat and no user
)

// LaneOfChat returns the lane of a chat's updates.
func LaneOfChat(chat int64) Lane { return Lane{chatLane, chat} }

// LaneOfPresses returns the lane of a user's button presses.
func LaneOfPresses(user int64) Lane { return Lane{pressLane, user} }

// LaneOfRaw returns the lane of an update that a test wrote itself: the lane of its chat, the lane
// of the user who pressed a button, or else a lane for this update alone.
func LaneOfRaw(id int64, raw json.RawMessage) Lane {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return Lane{singleLane, id}
	}
	for kind, body := range fields {
		var of struct{ Chat, From struct{ ID int64 } }
		switch {
		case json.Unmarshal(body, &of) != nil:
		case kind == "callback_query" && of.From.ID != 0:
			return LaneOfPresses(of.From.ID)
		case of.Chat.ID != 0:
			return LaneOfChat(of.Chat.ID)
		}
	}
	return Lane{singleLane, id}
}

// Chat returns the id of the lane's chat, or 0 if the lane has no chat.
func (l Lane) Chat() int64 {
	if l.kind == chatLane {
		return l.id
	}
	return 0
}
