package queuemodel

import (
	"slices"
	"time"
)

// Took says that items were taken out of the store for one request, marked as being sent. Again says that they were
// marked so before, so that they are sent once more.
func (m *Model) Took(epoch int64, lane Lane, ids []int64, again bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.note("%v of %v is taken by %d, again: %t", ids, lane, epoch, again)
	l := m.lane(lane)
	last, next := l.take, &take{by: epoch, again: again}
	l.take = next
	for _, id := range ids {
		i := m.items[id]
		next.items = append(next.items, i)
		if i.Lane != lane || i.ended() {
			m.complain("item %d of %v is taken in %v, it is %s", id, i.Lane, lane, i.state)
		}
		if again != (i.state == Perhaps) {
			m.complain("item %d is taken, again: %t, but it is %s", id, again, i.state)
		}
		i.state = Perhaps
		if again {
			i.again++
		}
	}
	if r := m.busy(epoch, lane); r != nil {
		m.complain("%v is taken while a request for %v is under way", ids, numbers(r.told))
	}
	if !again {
		return
	}
	switch {
	case last == nil:
	case last.request == nil:
		next.same = last.same
		if last.by == epoch && !last.unheard {
			m.complain("%v is taken once more, but there was no request", ids)
		}
	default:
		next.same = last.request.told
		if last.by == epoch && !last.unheard && m.verdict(last.request) != Ambiguous {
			m.complain("%v counts as perhaps sent, but the answer was %q", ids, last.request.answer)
		}
	}
	if last != nil && slices.ContainsFunc(last.items, (*item).ended) {
		next.same = nil // without those that came too late there may be room for others
	}
}

// Unheard says that an instance does not get to know what it has taken in a lane.
func (m *Model) Unheard(epoch int64, lane Lane) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.note("%d does not get to know what it has taken of %v", epoch, lane)
	if t := m.lane(lane).take; t.by == epoch {
		t.unheard = true
	}
}

// Wrote says that it was written down how an item stands.
func (m *Model) Wrote(id int64, state State) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.note("item %d: %s", id, state)
	i := m.items[id]
	l := m.lane(i.Lane)
	m.clear(l)
	if i.ended() {
		m.complain("item %d is %s and becomes %s", id, i.state, state)
	}
	if state == Uncertain && !i.isUsedUp() {
		m.complain("item %d is given up, of which there are perhaps %d copies", id, i.again)
	}
	late := !i.Deadline.IsZero() && !m.now().Before(i.Deadline)
	if t := l.take; t != nil && slices.Contains(t.items, i) {
		if (state != Expired || !late) && !slices.Contains(m.expected(t, i), state) {
			m.complain("item %d becomes %s, want one of %v", id, state, m.expected(t, i))
		}
		m.conclude(l, t, i)
		if state == Waits && t.again && t.request != nil && !slices.Contains(t.request.told, i) {
			i.again-- // it was not sent this time
		}
	} else if state != Expired || !late {
		m.complain("item %d becomes %s, but it was not taken", id, state)
	}
	if i.state = state; state == Perhaps && !i.Lane.Toasts {
		l.patience = 2 * unknown(l.first(), l.first().again, m.rules.Timeout)
	}
}

// expected returns how an item may stand after the request that it was taken for.
func (m *Model) expected(t *take, i *item) []State {
	r := t.request
	if r == nil {
		if t.items[0].isUsedUp() {
			return []State{Uncertain}
		}
		if i.Object != "" && m.says[i.Object] == i.Says || m.disturbed {
			return []State{Waits, Sent} // nothing had to be sent
		}
		return []State{Waits}
	}
	if m.isUnderWay(r) {
		return nil
	}
	first, told := t.items[0] == i, slices.Contains(r.told, i)
	switch answer := m.verdict(r); {
	case answer == Ambiguous && told:
		return []State{Perhaps}
	case answer == Ambiguous:
		return []State{Waits, Perhaps}
	case answer == Told && told && (i.copies > 0 && m.says[i.Object] == i.Says || m.disturbed):
		return []State{Sent}
	case answer == Told && told:
		return nil // it has not arrived
	case answer == Rejected && first:
		return []State{Dead}
	case answer == Pointless && first:
		return []State{Expired}
	case answer == Failed && first && i.failures+1 >= m.rules.MaxFailures:
		return []State{Dead}
	default:
		return []State{Waits}
	}
}

// conclude takes note of what follows for the lane, and for an item, from the answer that is written down now.
func (m *Model) conclude(l *lane, t *take, i *item) {
	if t.items[0] != i || t.request == nil || t.by != m.leader {
		return
	}
	if m.verdict(t.request) == Failed {
		i.failures++
	}
	if l.hold.request != t.request {
		return
	}
	l.hold.written = true
	if l.hold.lane && l.hold.until.After(l.frozen) {
		l.frozen = l.hold.until
	}
}

// verdict returns what the queue knows of a request: of one that was given up, nothing.
func (m *Model) verdict(r *Request) Answer {
	if !r.back {
		return Ambiguous
	}
	return r.answer
}

func numbers(items []*item) []int64 {
	ids := make([]int64, len(items))
	for n, i := range items {
		ids[n] = i.ID
	}
	return ids
}

// busy returns the request of an instance that is under way in a lane.
func (m *Model) busy(epoch int64, lane Lane) *Request {
	for _, r := range m.underWay {
		if r.by == epoch && r.lane == lane && m.isUnderWay(r) {
			return r
		}
	}
	return nil
}

func (m *Model) isUnderWay(r *Request) bool { return !r.back && !m.isGivenUp(r) }

func (m *Model) isGivenUp(r *Request) bool {
	return !r.cut.IsZero() && m.now().Sub(r.cut) >= m.rules.Grace
}

// Unwritten returns how many requests of an instance are under way, and how many have arrived of those that it has not
// written down.
func (m *Model) Unwritten(epoch int64) (underWay, arrived int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range m.lanes {
		t := l.take
		if t == nil || t.by != epoch || t.request == nil || t.items[0].state != Perhaps {
			continue
		}
		if m.isUnderWay(t.request) {
			underWay++
		}
		if t.request.delivered {
			arrived++
		}
	}
	return underWay, arrived
}

// sinceClear returns for how long a lane could have gone on, and for how long others may have kept it in that time.
func (m *Model) sinceClear(l *lane) (waited, allowed time.Duration) {
	from := l.clearFrom
	for _, until := range []time.Time{l.frozen, l.hold.until} {
		if until.After(from) {
			from = until
		}
	}
	const (
		own     = 2 * time.Minute  // its pace, and the wait after a failure
		stop    = 70 * time.Second // all lanes stand still because of a request that has failed
		other   = 35 * time.Second // the place that another request takes
		trouble = 15 * time.Second // until a call of the store is given up and made again
	)
	return m.now().Sub(from), own + l.patience + time.Duration(m.failures-l.failures)*stop +
		time.Duration(m.requests-l.requests)*other + time.Duration(m.troubles-l.troubles)*trouble
}
