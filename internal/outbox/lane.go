package outbox

import (
	"container/heap"
	"slices"
	"time"

	"github.com/sethvargo/go-retry"

	"elobot/internal/notice"
)

// The pauses of a backoff double from firstBackoff to maxBackoff, each with a jitter of ±30%.
const (
	firstBackoff  = 500 * time.Millisecond
	maxBackoff    = 20 * time.Second
	backoffJitter = 30
)

func newBackoff() retry.Backoff {
	return retry.WithJitterPercent(backoffJitter, retry.WithCappedDuration(maxBackoff, retry.NewExponential(firstBackoff)))
}

// nextPause returns the next pause of the backoff b, and creates the backoff if there is none.
func nextPause(b *retry.Backoff) time.Duration {
	if *b == nil {
		*b = newBackoff()
	}
	pause, _ := (*b).Next() // never stops
	return pause
}

// lane is what the dispatcher knows about one queue. It does not hold the items, only whether there
// may be any and when the next one may be sent. It stays in memory while there may be something to
// send, or while recent requests count against the chat's limits.
type lane struct {
	Lane
	state     state
	woken     bool          // a wake came after the last take had begun
	summarize bool          // the lane must be summarized before its next take
	level     int           // priority at the start of a wait
	since     time.Time     // when it began to wait for its next turn; see rank
	notBefore time.Time     // earliest time of the next request, apart from the pace
	backoff   retry.Backoff // yields the pauses after failures; nil: the next pause is the first
	chat      *chatPace
	counted   int       // requests for the current message that the pace already counts
	repeats   bool      // the next request may repeat one with an unknown outcome
	readyAt   time.Time // when it became ready for its turn; zero: not yet
	refused   int64     // id of the item last refused for an unknown reason
	refusedAt time.Time // when that item was first refused; zero: never

	order time.Time // sort key in the heap that contains it
	index int       // position in that heap
}

type state int

const (
	idle   state = iota // nothing to send for now; in memory because of the chat's pace
	paused              // may not send yet
	ready               // may send, and waits for its turn
	busy                // being taken, sent or persisted
)

// Priorities of lanes. A waiting lane rises one level every levelEvery.
const (
	levelPrivate      = 10
	levelGroup        = 5
	levelNotification = 3
	levelPage         = 1
	levelBoard        = 0
	levelFavored      = 2 // added for favored chats
	levelEvery        = 10 * time.Second
)

// level returns the priority of lane l. The argument to is the messenger's id of its chat, private
// is set for a chat with one person, and purpose is the purpose of the lane's first item.
func (s Settings) level(l Lane, to int64, private bool, purpose notice.Purpose) int {
	level := levelGroup
	switch {
	case l.Kind == Pages:
		level = levelPage
	case l.Kind == Boards:
		level = levelBoard
	case purpose == notice.Notification:
		level = levelNotification
	case private:
		level = levelPrivate
	}
	if slices.Contains(s.Favored, to) {
		level += levelFavored
	}
	return level
}

// rank converts the start of a wait at the given level to the start of an equally urgent wait at
// level 0. All lanes rise at the same speed, so the lane with the earliest rank goes first, and
// waiting does not change their order.
func rank(since time.Time, level int) time.Time {
	return since.Add(-time.Duration(level) * levelEvery)
}

// chatPace is the pace of a chat. All lanes of the chat share it, except the lane of callback
// answers.
type chatPace struct {
	pace
	edits    pace // requests for pages and boards
	inFlight int  // lanes that hold a send slot
}

// setLimits sets the limits of a chat. Pages and boards may use half of each limit, rounded up; the
// rest is left to messages. If there are any limits, requests for pages and boards are also at
// least a second apart. Without this spacing, quick presses of buttons would use up a limit, and
// the last press, the only one that matters, would have to wait.
func (c *chatPace) setLimits(windows []Window) {
	c.windows, c.edits.windows = windows, nil
	if len(windows) > 0 {
		c.edits.windows = []Window{{1, time.Second}}
	}
	for _, w := range windows {
		c.edits.windows = append(c.edits.windows, Window{(w.N + 1) / 2, w.Per})
	}
}

// paceAllowsAt returns the earliest moment, not before now, at which the limits of the chat allow a
// request of the lane.
func (l *lane) paceAllowsAt(now time.Time) time.Time {
	at := l.chat.next(now, l.chat.inFlight)
	if l.Kind != Pages && l.Kind != Boards {
		return at
	}
	return latest(at, l.chat.edits.next(now, 0))
}

// requested counts a request that ended at the given time against the limits of the chat.
func (l *lane) requested(now time.Time) {
	l.chat.add(now)
	if l.Kind != Messages {
		l.chat.edits.add(now)
	}
}

// others returns the other lanes that share the pace of l's chat, or nil if l is a lane of callback
// answers.
func (l Lane) others() []Lane {
	switch l.Kind {
	case Messages:
		return []Lane{{l.Chat, Pages}, {l.Chat, Boards}}
	case Pages:
		return []Lane{{l.Chat, Messages}, {l.Chat, Boards}}
	case Boards:
		return []Lane{{l.Chat, Messages}, {l.Chat, Pages}}
	default:
		return nil
	}
}

// laneHeap is a heap of lanes with the earliest order first.
type laneHeap []*lane

func (h laneHeap) Len() int           { return len(h) }
func (h laneHeap) Less(i, j int) bool { return h[i].order.Before(h[j].order) }
func (h laneHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push implements heap.Interface.
func (h *laneHeap) Push(x any) {
	l := x.(*lane) //nolint:forcetypeassert // nothing else is pushed
	l.index = len(*h)
	*h = append(*h, l)
}

// Pop implements heap.Interface.
func (h *laneHeap) Pop() any {
	last := len(*h) - 1
	l := (*h)[last]
	*h = slices.Delete(*h, last, last+1)
	return l
}

func (h *laneHeap) add(l *lane, order time.Time) {
	l.order = order
	heap.Push(h, l)
}

func (h *laneHeap) remove(l *lane) { heap.Remove(h, l.index) }

func (h laneHeap) first() *lane {
	if len(h) == 0 {
		return nil
	}
	return h[0]
}
