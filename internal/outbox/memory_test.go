package outbox

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"
)

var errUnavailable = errors.New("the database is unavailable")

// memory is a Store that behaves like the database. The hooks run first and may fail or hang.
type memory struct {
	onWaiting   func(ctx context.Context) error
	onRecent    func(ctx context.Context) error
	onSurvey    func(ctx context.Context) error
	onSummarize func(lanes []Lane) error
	onAdvance   func(ctx context.Context, results []Result, lanes []Lane) error
	// afterAdvance runs when everything is persisted; its error means that the answer was lost
	afterAdvance func(turns []Turn) error

	mu      sync.Mutex
	epoch   int64           // of the dispatcher that may write
	rows    []*row          // in the order of their ids
	lanes   map[Lane][]*row // open rows, and some that have ended
	frozen  map[ChatID]time.Time
	parked  map[ChatID]bool
	private map[ChatID]bool
	moved   map[ChatID]int64 // the messenger's id of a chat that has migrated
}

func newMemory() *memory {
	return &memory{
		epoch: 1, lanes: make(map[Lane][]*row),
		frozen: make(map[ChatID]time.Time), parked: make(map[ChatID]bool), private: make(map[ChatID]bool),
		moved: make(map[ChatID]int64),
	}
}

// wait returns how long a lane may not send because of its chat or its first row.
func (m *memory) wait(head *row) time.Duration {
	until := head.notBefore
	if frozen := m.frozen[head.chat]; head.action != CallbackAnswer && frozen.After(until) {
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
		if open := m.openIn(l); len(open) > 0 && (l.Kind == CallbackAnswers || !m.parked[l.Chat]) {
			heads = append(heads, open[0])
			overfull[l] = len(open) > bounds.MaxWaiting
		}
	}
	slices.SortFunc(heads, func(a, b *row) int { return cmp.Compare(a.ID, b.ID) })
	var backlogs []Backlog
	for _, r := range heads {
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
	seen := make(map[int64]bool)
	for _, r := range m.rows {
		age := time.Duration(math.MaxInt64)
		switch {
		case r.action == CallbackAnswer || r.takenAt.IsZero() || seen[r.batch]:
		case r.state == rowSending:
			age = 0
		case r.state == rowPlanned:
			age = max(0, time.Since(r.takenAt)-2*LongestRequest)
		default:
			age = time.Since(r.finished)
		}
		if age >= within {
			continue
		}
		if r.batch != 0 {
			seen[r.batch] = true
		}
		for range 1 + r.PossibleDuplicates {
			requests = append(requests, Request{Chat: r.chat, Private: m.private[r.chat], Age: age})
		}
	}
	return requests, ctx.Err()
}

// Resume puts the deferred rows back.
func (m *memory) Resume(ctx context.Context, epoch int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if epoch != m.epoch {
		return ErrLeaseLost
	}
	for _, r := range m.rows {
		if r.state == rowDeferred {
			r.state = rowPlanned
			open := append(m.lanes[r.lane()], r)
			slices.SortFunc(open, func(a, b *row) int { return cmp.Compare(a.ID, b.ID) })
			m.lanes[r.lane()] = open
		}
	}
	return ctx.Err()
}

// kindSummary is the kind of rows that stand for several.
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

func (m *memory) Advance(ctx context.Context, epoch int64, results []Result, lanes []Lane, bounds Bounds) ([]Turn, error) {
	if m.onAdvance != nil {
		if err := m.onAdvance(ctx, results, lanes); err != nil {
			return nil, err
		}
	}
	turns, err := m.advance(ctx, epoch, results, lanes, bounds)
	if err == nil && m.afterAdvance != nil {
		err = m.afterAdvance(turns)
	}
	return turns, err
}

func (m *memory) advance(ctx context.Context, epoch int64, results []Result, lanes []Lane, bounds Bounds) ([]Turn, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case epoch != m.epoch:
		return nil, ErrLeaseLost
	}
	for _, r := range results {
		m.finish(r)
	}
	var turns []Turn
	for _, l := range lanes {
		turns = append(turns, m.take(l, bounds))
	}
	return turns, nil
}

// finish persists the result of a message.
func (m *memory) finish(r Result) {
	chat, now := r.Message.Lane.Chat, time.Now()
	covered := []*row{m.rows[r.Message.Row.ID-1]}
	if r.Message.Action == Send {
		covered = nil
		for _, row := range m.lanes[r.Message.Lane] {
			switch {
			case row.state != rowSending || row.batch != r.Message.Row.ID:
			case len(covered) < r.coveredItems():
				covered = append(covered, row)
			default: // taken but not covered
				row.state, row.batch = rowPlanned, 0
				row.Attempts--
			}
		}
	}
	f := r.Failure
	if f != nil {
		switch f.Kind {
		case RateLimited:
			if until := now.Add(r.Pause); r.Message.Lane.Kind != CallbackAnswers && until.After(m.frozen[chat]) {
				m.frozen[chat] = until
			}
		case Forbidden:
			m.parked[chat] = true
		}
	}
	for i, row := range covered {
		if row.state != rowSending {
			continue
		}
		end := func(state rowState) { row.state, row.finished = state, now }
		switch {
		case f == nil:
			end(rowSent)
			row.messageID = r.MessageID
			continue
		case i == 0 && (f.Kind == Rejected || r.Dead):
			end(rowDead)
		case i == 0 && f.Kind == Obsolete:
			end(rowExpired)
		case f.Kind == Uncertain:
			end(rowUncertain)
		case f.Kind == Unsupported:
			row.state, row.batch = rowDeferred, 0
			row.Attempts--
		case f.Kind == Ambiguous:
		default:
			row.state, row.batch = rowPlanned, 0
		}
		row.lastError = f.Err.Error()
		if i == 0 && f.Kind == Failed {
			row.Failures++
		}
		if i == 0 && (f.Kind != RateLimited || row.action == CallbackAnswer) {
			row.notBefore = now.Add(r.Pause)
		}
	}
}

// isOver is true if a row is past its deadline.
func (r *row) isOver() bool { return !r.expires.IsZero() && !r.expires.After(time.Now()) }

// Summarize ends what is past its deadline. If too much waits, all planned items that certainly did
// not arrive become one, the first of them.
func (m *memory) Summarize(ctx context.Context, epoch int64, lanes []Lane, bounds Bounds) (s Summarized, err error) {
	if m.onSummarize != nil {
		if err := m.onSummarize(lanes); err != nil {
			return s, err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if epoch != m.epoch {
		return s, ErrLeaseLost
	}
	for _, l := range lanes {
		open := m.openIn(l)
		overfull, summary := len(open) > bounds.MaxWaiting, false
		for _, r := range open {
			switch {
			case r.isOver():
				s.Expired++
			case overfull && r.state == rowPlanned && r.PossibleDuplicates == 0:
				if s.Dropped++; !summary {
					summary, r.Kind = true, kindSummary
					continue
				}
			default:
				continue
			}
			r.state, r.finished = rowExpired, time.Now()
		}
	}
	return s, ctx.Err()
}

// take takes the next message of a lane.
func (m *memory) take(l Lane, bounds Bounds) Turn {
	turn := Turn{Lane: l}
	open := m.openIn(l)
	if len(open) == 0 || m.parked[l.Chat] && l.Kind != CallbackAnswers {
		return turn
	}
	if turn.Over = open[0].isOver(); turn.Over {
		turn.Wait = 10 * time.Millisecond
		return turn
	}
	if turn.Wait = m.wait(open[0]); turn.Wait > 0 {
		return turn
	}
	head, n := open[0], 1
	if head.action == Send {
		for n < len(open) && n < bounds.Merge && open[n].action == Send && open[n].thread == head.thread && !open[n].isOver() &&
			open[n].state == head.state && open[n].batch == head.batch && open[n].PossibleDuplicates == head.PossibleDuplicates {
			n++
		}
	}
	message := &Message{
		Lane: l, ExternalChat: m.to(l.Chat), Private: m.private[l.Chat], Thread: head.thread, Action: head.action,
		Purpose: head.purpose, Target: head.target, KnownFingerprint: head.known, More: len(open) > n,
	}
	for _, r := range open[:n] {
		if r.Repeated = r.state == rowSending; r.Repeated {
			r.PossibleDuplicates++
		}
		r.Attempts++
		r.state, r.batch, r.takenAt = rowSending, head.ID, time.Now()
		message.Items = append(message.Items, r.Item)
	}
	message.Row = message.Items[0]
	turn.Message = message
	return turn
}
