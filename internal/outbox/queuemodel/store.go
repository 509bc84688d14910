package queuemodel

import (
	"slices"
	"time"
)

// lostAfter is how long the outcome of a request to a parked chat may be missing before another
// request may be made.
const lostAfter = time.Minute

// Took records that items were taken from the store for one request and marked as sending. The
// argument repeated is set if they were already marked, so this request is a possible duplicate.
func (m *Model) Took(epoch int64, lane Lane, ids []int64, repeated bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.note("%v of %v taken by epoch %d, repeated: %t", ids, lane, epoch, repeated)
	l := m.lane(lane)
	switch {
	case m.now().Before(l.chat.parked):
		m.violation("a request for %v goes to a parked chat", ids)
	case m.now().Sub(l.chat.tried) < lostAfter:
		m.violation("a request for %v goes to a chat that another one tries", ids)
	case m.now().Before(l.chat.frozen):
		m.violation("%v taken %v too early in a frozen chat", ids, l.chat.frozen.Sub(m.now()))
	}
	if l.chat.refused {
		l.chat.tried = m.now()
	}
	if lane.Kind == Boards {
		m.checkYields(lane)
	}
	last, next := l.take, &take{epoch: epoch, repeated: repeated}
	l.take = next
	for _, id := range ids {
		i := m.items[id]
		next.items = append(next.items, i)
		if i.Lane != lane || i.ended() {
			m.violation("item %d of %v taken in %v, it is %s", id, i.Lane, lane, i.state)
		}
		if m.isOutdated(i) {
			m.violation("item %d taken although a newer page of the same message waits", id)
		}
		if repeated != (i.state == Sending) {
			m.violation("item %d taken, repeated: %t, but it is %s", id, repeated, i.state)
		}
		i.state = Sending
		if repeated {
			i.repeats++
		}
	}
	if r := m.busy(epoch, lane); r != nil {
		m.violation("%v taken while a request for %v is in flight", ids, idsOf(r.items))
	}
	if !repeated {
		return
	}
	switch {
	case last == nil:
	case last.request == nil:
		next.mustRepeat = last.mustRepeat
		if last.epoch == epoch && !last.unknownToTaker {
			m.violation("%v taken again, but there was no request", ids)
		}
	default:
		next.mustRepeat = last.request.items
		if last.epoch == epoch && !last.unknownToTaker && m.knownAnswer(last.request) != Ambiguous {
			m.violation("%v counts as a possible duplicate, but the answer was %q", ids, last.request.answer)
		}
	}
	if last != nil && slices.ContainsFunc(last.items, (*item).ended) {
		next.mustRepeat = nil // some items have ended, so the next message is a different one
	}
}

// checkYields checks that a board is not taken while messages or pages have waited in its chat for
// so long that the instance must know about them. It checks nothing without Rules.Prompt.
func (m *Model) checkYields(board Lane) {
	// The instance may not know about changes within this time, because calls to the store are
	// slow.
	const hidden = 20 * time.Second
	if m.now().Sub(m.lane(board).chat.unparked) <= hidden {
		return
	}
	for _, kind := range []LaneKind{Messages, Pages} {
		if i := m.lane(Lane{board.Chat, kind}).first(); m.rules.Prompt && i != nil && m.now().Sub(i.put) > hidden {
			m.violation("%v taken although item %d waits", board, i.ID)
		}
	}
}

// TurnLost records that an instance did not receive what it took from a lane.
func (m *Model) TurnLost(epoch int64, lane Lane) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.note("epoch %d does not receive what it has taken of %v", epoch, lane)
	if t := m.lane(lane).take; t.epoch == epoch {
		t.unknownToTaker = true
	}
}

// Wrote records that the state of an item was persisted after its request, or that the item
// expired.
func (m *Model) Wrote(id int64, state State) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.note("item %d: %s", id, state)
	i := m.items[id]
	l := m.lane(i.Lane)
	m.markReady(l)
	if i.ended() {
		m.violation("item %d changes from final state %s to %s", id, i.state, state)
	}
	if state == Uncertain && !i.isExhausted() {
		m.violation("item %d is given up after %d possible duplicates", id, i.repeats)
	}
	mayExpire := !i.Deadline.IsZero() && !m.now().Before(i.Deadline) || m.isOutdated(i)
	if t := l.take; t != nil && slices.Contains(t.items, i) {
		l.chat.tried = time.Time{}
		if (state != Expired || !mayExpire) && !slices.Contains(m.expected(t, i), state) {
			m.violation("item %d becomes %s, want one of %v", id, state, m.expected(t, i))
		}
		m.applyAnswer(l, t, i)
	} else if state != Expired || !mayExpire {
		m.violation("item %d becomes %s, but it was not taken", id, state)
	}
	l.extraWait = 0
	if i.state = state; state == Sending && i.Lane.isPaced() {
		l.extraWait = 2 * ambiguousPause(l.first(), l.first().repeats, m.rules.Timeout)
	}
}

// isOutdated reports whether an item is a page and a newer page of the same message waits.
func (m *Model) isOutdated(i *item) bool {
	all := m.lane(i.Lane).items
	return i.Lane.Kind == Pages && slices.ContainsFunc(all[slices.Index(all, i)+1:], func(other *item) bool {
		return other.Object == i.Object && !other.ended()
	})
}

// expected returns the states that may be persisted for an item of a take, nil if none may be.
func (m *Model) expected(t *take, i *item) []State {
	r := t.request
	if r == nil {
		if t.items[0].isExhausted() {
			return []State{Uncertain}
		}
		if i.Object != "" && m.contents[i.Object] == i.Says || m.overlapped {
			return []State{Waits, Sent} // the content was already shown
		}
		return []State{Waits}
	}
	if m.isInFlight(r) {
		return nil
	}
	first, covered := t.items[0] == i, slices.Contains(r.items, i)
	switch answer := m.knownAnswer(r); {
	case answer == Ambiguous && covered:
		return []State{Sending}
	case answer == Ambiguous:
		return []State{Waits, Sending}
	case answer == Delivered && covered && (i.copies > 0 && m.contents[i.Object] == i.Says || m.overlapped):
		return []State{Sent}
	case answer == Delivered && covered:
		return nil // not delivered
	case answer == Rejected && first:
		return []State{Dead}
	case answer == Obsolete && first:
		return []State{Expired}
	case answer == Failed && first && i.failures+1 >= m.rules.MaxFailures:
		return []State{Dead}
	default:
		return []State{Waits}
	}
}

// applyAnswer updates the lane and the first item of a take when the answer to a request of the
// current leader is persisted. It does nothing for the other items of the take.
func (m *Model) applyAnswer(l *lane, t *take, i *item) {
	if t.items[0] != i || t.request == nil || t.epoch != m.leader {
		return
	}
	if m.knownAnswer(t.request) == Failed {
		i.failures++
	}
	if l.hold.request != t.request {
		return
	}
	l.hold.persisted = true
	if l.hold.lane && l.hold.until.After(l.chat.frozen) {
		l.chat.frozen = l.hold.until
	}
}

// knownAnswer returns the answer as the queue sees it: Ambiguous for a request that has not
// returned.
func (m *Model) knownAnswer(r *Request) Answer {
	if !r.returned {
		return Ambiguous
	}
	return r.answer
}

func idsOf(items []*item) []int64 {
	ids := make([]int64, len(items))
	for n, i := range items {
		ids[n] = i.ID
	}
	return ids
}

// busy returns the request that an instance has in flight in a lane, nil if there is none.
func (m *Model) busy(epoch int64, lane Lane) *Request {
	for _, r := range m.inFlight {
		if r.epoch == epoch && r.lane == lane && m.isInFlight(r) {
			return r
		}
	}
	return nil
}

func (m *Model) isInFlight(r *Request) bool { return !r.returned && !m.isGivenUp(r) }

func (m *Model) isGivenUp(r *Request) bool {
	return !r.canceledAt.IsZero() && m.now().Sub(r.canceledAt) >= m.rules.Grace
}

// Unwritten looks at the last request of each lane, if it was made under the given epoch and its
// first item is still marked as sending. It returns how many of these requests are in flight, and
// how many have delivered their items.
func (m *Model) Unwritten(epoch int64) (inFlight, arrived int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range m.lanes {
		t := l.take
		if t == nil || t.epoch != epoch || t.request == nil || t.items[0].state != Sending {
			continue
		}
		if m.isInFlight(t.request) {
			inFlight++
		}
		if t.request.delivered {
			arrived++
		}
	}
	return inFlight, arrived
}

// sinceReady returns how long a lane has waited without a pause of its own or of its chat, and the
// longest wait that is allowed, given the requests and failures during that time.
func (m *Model) sinceReady(l *lane) (waited, allowed time.Duration) {
	from := l.readySince
	for _, until := range []time.Time{l.chat.frozen, l.hold.until, l.chat.parked, l.chat.tried.Add(lostAfter)} {
		if until.After(from) {
			from = until
		}
	}
	const (
		own  = 2 * time.Minute  // for the limits of the chat, and the pause after a failure
		stop = 70 * time.Second // for each failed request, which may make all lanes pause
		// for each request, which may occupy the send slot
		other   = 15 * time.Second
		trouble = 15 * time.Second // for each failed call to the store, which is repeated
	)
	return m.now().Sub(from), own + l.extraWait + time.Duration(m.failures-l.failures)*stop +
		time.Duration(m.requests-l.requests)*other + time.Duration(m.storeErrors-l.storeErrors)*trouble
}
