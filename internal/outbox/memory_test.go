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

// memory is a correct Store in memory. Its hooks run first and may fail or hang.
type memory struct {
	onWaiting   func(ctx context.Context) error
	onRecent    func(ctx context.Context) error
	onSurvey    func(ctx context.Context) error
	onSummarize func(lanes []Lane) error
	onAdvance   func(ctx context.Context, results []Result, lanes []Lane) error
	// afterAdvance runs once everything is persisted. Its error means that the answer was lost.
	afterAdvance func(turns []Turn) error

	model    *queuemodel.Model // is notified of all changes; nil: none
	counts   *tally
	parksFor time.Duration // pause of a chat after a refusal

	mu     sync.Mutex
	epoch  int64           // of the dispatcher that may write
	leased time.Time       // end of the lease, zero if it was released
	rows   []*row          // by id
	lanes  map[Lane][]*row // open rows, and some that have ended
	frozen map[ChatID]chatPause
	// parked is the end of the pause of chats that refused the last request.
	parked      map[ChatID]time.Time
	private     map[ChatID]bool
	moved       map[ChatID]int64         // new messenger ids of migrated chats
	shown       map[string]*shownMessage // by object
	requests    []*takenRequest          // all except callback answers
	lastRequest map[Lane]*takenRequest
}

// chatPause is the pause of a frozen chat.
type chatPause struct {
	until time.Time
	epoch int64 // of the dispatcher that persisted it
}

// shownMessage is a message that the chat shows.
type shownMessage struct {
	id          int64
	rows        []*row
	fingerprint string
}

// takenRequest is a request, from the take of its rows until its result is persisted.
type takenRequest struct {
	chat  ChatID
	ended time.Time // zero if unknown
}

func newMemory() *memory {
	return &memory{
		counts: new(tally), parksFor: farFuture, epoch: 1, lanes: make(map[Lane][]*row),
		frozen: make(map[ChatID]chatPause), parked: make(map[ChatID]time.Time),
		private: make(map[ChatID]bool), moved: make(map[ChatID]int64),
		shown: make(map[string]*shownMessage), lastRequest: make(map[Lane]*takenRequest),
	}
}

// tell notifies the model of a change.
func (m *memory) tell(change func(*queuemodel.Model)) {
	if m.model != nil {
		change(m.model)
	}
}

// blocked reports whether a lane is blocked because its chat is parked.
func (m *memory) blocked(l Lane) bool {
	return l.Kind != CallbackAnswers && m.parked[l.Chat].After(time.Now())
}

// wait returns how long a lane must wait because of its chat or its first row.
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

// mayWrite returns an error unless the dispatcher with this epoch may write.
func (m *memory) mayWrite(epoch int64, call string) error {
	if epoch != m.epoch {
		return fmt.Errorf("%s: %w", call, ErrLeaseLost)
	}
	return nil
}

// Resume puts the deferred rows back.
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

// kindSummary is the kind of a row that stands for several.
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

// Summarize ends rows that are over. If too many wait in a lane, all others that certainly did not
// arrive are merged into the first of them, and so are older summaries.
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

// unite makes the first of several rows stand for all of them.
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
