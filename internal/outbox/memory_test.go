package outbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"elobot/internal/outbox/queuemodel"
)

var errUnavailable = errors.New("the database is unavailable")

// memory is a Store in memory. A hook whose name begins with "on" runs before the method that it is
// named after, and may block that method or make it fail.
type memory struct {
	onWaiting   func(ctx context.Context) error
	onRecent    func(ctx context.Context) error
	onSurvey    func(ctx context.Context) error
	onSummarize func(lanes []Lane) error
	onAdvance   func(ctx context.Context, results []Result, lanes []Lane) error
	// afterAdvance runs after Advance has persisted everything. Its error stands for a lost answer.
	afterAdvance func(turns []Turn) error

	model    *queuemodel.Model // is notified of all changes; may be nil
	counts   *tally
	parksFor time.Duration // how long a chat is parked after Forbidden

	mu     sync.Mutex
	epoch  int64           // the current epoch; writes of other epochs fail
	leased time.Time       // end of the lease; zero: it is free
	rows   []*row          // by id
	lanes  map[Lane][]*row // open rows, and some that have ended
	frozen map[ChatID]chatPause
	// parked holds, for each parked chat, when the next request may be tried.
	parked      map[ChatID]time.Time
	private     map[ChatID]bool
	moved       map[ChatID]int64         // the messenger's new ids of migrated chats
	shown       map[string]*shownMessage // by object
	requests    []*takenRequest          // without callback answers
	lastRequest map[Lane]*takenRequest
}

type chatPause struct {
	until time.Time
	epoch int64 // of the dispatcher that persisted it
}

type shownMessage struct {
	id          int64
	rows        []*row
	fingerprint string
}

// takenRequest is a request as the store sees it: it begins when its rows are taken and ends when
// its result is persisted.
type takenRequest struct {
	chat  ChatID
	ended time.Time // zero: not ended
}

func newMemory() *memory {
	return &memory{
		counts: new(tally), parksFor: farFuture, epoch: 1, lanes: make(map[Lane][]*row),
		frozen: make(map[ChatID]chatPause), parked: make(map[ChatID]time.Time),
		private: make(map[ChatID]bool), moved: make(map[ChatID]int64),
		shown: make(map[string]*shownMessage), lastRequest: make(map[Lane]*takenRequest),
	}
}

// tell notifies the model of a change, if there is a model.
func (m *memory) tell(change func(*queuemodel.Model)) {
	if m.model != nil {
		change(m.model)
	}
}

// blocked reports whether the chat's parking keeps a lane from sending.
func (m *memory) blocked(l Lane) bool {
	return l.Kind != CallbackAnswers && m.parked[l.Chat].After(time.Now())
}

// wait returns how long a row at the head of its lane must wait, because of its own pause or
// because its chat is frozen.
func (m *memory) wait(head *row) time.Duration {
	until := head.notBefore
	if frozen := m.frozen[head.chat].until; head.action != CallbackAnswer && frozen.After(until) {
		until = frozen
	}
	return max(0, time.Until(until))
}

func (m *memory) Waiting(ctx context.Context, bounds Bounds) ([]Backlog, error) {
	if m.onWaiting != nil {
		if err := m.onWaiting(ctx); err != nil {
			return nil, err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var heads []*row
	overfull := make(map[Lane]bool)
	for l := range m.lanes {
		if open := m.openIn(l); len(open) > 0 && !m.blocked(l) {
			heads = append(heads, open[0])
			overfull[l] = len(open) > bounds.MaxWaiting
		}
	}
	slices.SortFunc(heads, byID)
	var backlogs []Backlog
	for _, r := range heads {
		if f := m.frozen[r.chat]; f.until.After(time.Now()) && f.epoch != m.epoch {
			m.counts.add("a freeze was taken over")
		}
		backlogs = append(backlogs, Backlog{
			Lane: r.lane(), To: m.to(r.chat), Private: m.private[r.chat], Purpose: r.purpose,
			Age: time.Since(r.created), Wait: m.wait(r), Overfull: overfull[r.lane()],
		})
	}
	return backlogs, ctx.Err()
}

func (m *memory) Recent(ctx context.Context, within time.Duration) ([]Request, error) {
	if m.onRecent != nil {
		if err := m.onRecent(ctx); err != nil {
			return nil, err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var requests []Request
	for _, r := range m.requests {
		age := time.Duration(0)
		if !r.ended.IsZero() {
			age = time.Since(r.ended)
		}
		if age < within {
			requests = append(requests, Request{Chat: r.chat, Private: m.private[r.chat], Age: age})
		}
	}
	return requests, ctx.Err()
}

// mayWrite returns nil if the epoch is current. Otherwise it returns ErrLeaseLost, wrapped with the
// name of the call.
func (m *memory) mayWrite(epoch int64, call string) error {
	if epoch != m.epoch {
		return fmt.Errorf("%s: %w", call, ErrLeaseLost)
	}
	return nil
}

// Resume implements Store.
func (m *memory) Resume(ctx context.Context, epoch int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.mayWrite(epoch, "resume"); err != nil {
		return err
	}
	for _, r := range m.rows {
		if r.state == rowDeferred {
			r.state = rowPlanned
			m.lanes[r.lane()] = append(m.lanes[r.lane()], r)
			slices.SortFunc(m.lanes[r.lane()], byID)
		}
	}
	return ctx.Err()
}

// kindSummary is the kind of a row that summarizes several rows.
const kindSummary = "summary"

func (m *memory) Survey(ctx context.Context, largest int) (Survey, error) {
	if m.onSurvey != nil {
		if err := m.onSurvey(ctx); err != nil {
			return Survey{}, err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s := Survey{LastID: int64(len(m.rows))}
	in := make(map[ChatID]int)
	for _, r := range m.rows {
		switch {
		case r.open():
			s.Waiting++
			in[r.chat]++
		case r.state == rowDead:
			s.Dead++
		}
	}
	for chat, n := range in {
		s.Largest = append(s.Largest, ChatBacklog{Chat: chat, Waiting: n})
	}
	slices.SortFunc(s.Largest, func(a, b ChatBacklog) int {
		return cmp.Or(cmp.Compare(b.Waiting, a.Waiting), cmp.Compare(a.Chat, b.Chat))
	})
	s.Largest = s.Largest[:min(len(s.Largest), largest)]
	return s, ctx.Err()
}

// Summarize implements Store. Unlike a real store, it summarizes messages whatever their content:
// all new messages of an overfull lane that have certainly not arrived, if there are at least two.
func (m *memory) Summarize(ctx context.Context, epoch int64, lanes []Lane, bounds Bounds) (s Summarized, err error) {
	if m.onSummarize != nil {
		if err := m.onSummarize(lanes); err != nil {
			return s, err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.mayWrite(epoch, "summarize"); err != nil {
		return s, err
	}
	for _, l := range lanes {
		open := slices.Clone(m.openIn(l))
		overfull := len(open) > bounds.MaxWaiting
		var undelivered []*row
		for _, r := range open {
			switch {
			case m.isOver(r):
				if !m.isOutdated(r) {
					m.counts.add("an item expired")
				} else {
					m.counts.add("a page ended because of a newer one")
				}
				m.persist(r, rowExpired)
				m.forgetContent(r)
				s.Expired++
			case overfull && r.action == Send && r.state == rowPlanned && r.PossibleDuplicates == 0:
				undelivered = append(undelivered, r)
			}
		}
		if len(undelivered) > 1 {
			m.counts.add("too much waited")
			s.Dropped += len(undelivered)
			m.unite(undelivered)
		}
	}
	return s, ctx.Err()
}

// unite makes the first of several rows the summary of all of them.
func (m *memory) unite(rows []*row) {
	first := rows[0]
	first.Kind, first.expires = kindSummary, time.Time{}
	var others []int64
	for _, r := range rows[1:] {
		r.state = queuemodel.Summarized
		others = append(others, r.ID)
	}
	m.tell(func(q *queuemodel.Model) { q.Summarizes(first.ID, others) })
}
