package queuemodel

import (
	"slices"
	"time"
)

// minBackoff is the shortest pause for an item after the answers Unreachable, Unauthorized, Failed
// and Migrated, and for a callback answer also after Ambiguous.
const minBackoff = 350 * time.Millisecond

// maxCopies is how many requests with an unknown outcome may be made for an item that is not
// Harmless.
const maxCopies = 5

// ambiguousPause returns the pause, before jitter, after a request for the item with an unknown
// outcome. The argument before is the number of earlier requests with an unknown outcome. For a
// timeout of 5 s, the pauses are 1, 10 and 100 s, then 15 minutes. The pause is 0 if the item may
// not be sent again.
func ambiguousPause(i *item, before int, timeout time.Duration) time.Duration {
	if before >= maxCopies-1 && !i.Harmless {
		return 0
	}
	return timeout * []time.Duration{1, 10, 100, 900}[min(before, 3)] / 5
}

// Begins records that an instance starts a request for these items. A request is excused if its
// process froze after it had checked its lease: nothing can keep it from overlapping the next
// leader's requests.
func (m *Model) Begins(epoch int64, lane Lane, ids []int64, excused bool) *Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.note("epoch %d starts a request for %v", epoch, ids)
	l := m.lane(lane)
	r := &Request{epoch: epoch, lane: lane, begun: m.now(), excused: excused}
	for _, id := range ids {
		r.items = append(r.items, m.items[id])
	}
	r.private, r.repeats = r.items[0].Private, r.items[0].repeats
	t := l.take
	if t != nil && t.epoch == epoch {
		if t.request != nil {
			m.violation("two requests for items that were taken once: %v", ids)
		}
		t.request = r
	}
	if !excused {
		m.checkRequest(l, r)
	}
	m.inFlight = slices.DeleteFunc(m.inFlight, func(r *Request) bool { return !m.isInFlight(r) })
	m.inFlight = append(m.inFlight, r)
	return r
}

func (m *Model) checkRequest(l *lane, r *Request) {
	ids := idsOf(r.items)
	switch t := l.take; {
	case t == nil || t.epoch != r.epoch || !slices.Equal(t.items[:min(len(t.items), len(r.items))], r.items):
		m.violation("a request covers %v, which was not taken", ids)
	case t.mustRepeat != nil && !slices.Equal(t.mustRepeat, r.items):
		m.violation("a request covers %v, but its possible duplicate covered %v", ids, idsOf(t.mustRepeat))
	}
	if l.first() != r.items[0] {
		m.violation("item %d is sent before its turn", ids[0])
	}
	for _, i := range r.items {
		if i.ended() {
			m.violation("item %d is sent although it is %s", i.ID, i.state)
		}
		if i.isExhausted() {
			m.violation("item %d is sent despite %d possible duplicates", i.ID, i.repeats)
		}
	}
	if other := m.busy(r.epoch, r.lane); other != nil {
		m.violation("a request for %v starts while one for %v is in flight", ids, idsOf(other.items))
	}
	parallel := 1
	for _, other := range m.inFlight {
		if other.epoch == r.epoch && other.lane.isPaced() == r.lane.isPaced() && m.isInFlight(other) {
			parallel++
		}
	}
	if parallel > m.rules.Parallel {
		m.violation("%d requests are in flight", parallel)
	}
	until := time.Time{}
	if l.hold.blocks(r) && l.hold.until.After(until) {
		until = l.hold.until
	}
	if m.now().Before(until) {
		m.violation("a request for %v starts %v too early after a failure", ids, until.Sub(m.now()))
	}
	if waited, allowed := m.sinceReady(l); m.rules.Prompt && waited > allowed && r.lane.Kind != Boards {
		m.violation("a request for %v starts %v after it could have, want at most %v", ids, waited, allowed)
	}
}

// Excuse records that the process froze after it had started a request, before the request reached
// the messenger.
func (m *Model) Excuse(r *Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.note("the request of epoch %d for %v is late", r.epoch, idsOf(r.items))
	r.excused = true
}

// Reaches records that a request reached the messenger. The request counts against the limits,
// unless it is excused or for a callback answer. The argument delivers tells whether its items
// arrived in the chat.
func (m *Model) Reaches(r *Request, delivers bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.note("the request of epoch %d for %v arrives, delivers: %t", r.epoch, idsOf(r.items), delivers)
	switch {
	case r.excused:
		m.overlapped = true
	case r.epoch != m.leader:
		m.violation("a request for %v arrives while another instance leads", idsOf(r.items))
	}
	if !r.excused && r.lane.isPaced() {
		m.checkLimits(arrival{r.lane.Chat, r.private, m.now()})
	}
	if !delivers {
		return
	}
	r.delivered = true
	for _, i := range r.items {
		i.copies++
		m.contents[i.Object] = i.Says
		if i.copies == 1 && !r.excused {
			m.checkOrder(i)
		}
	}
}

// checkOrder checks that the first copy of an item arrives after the previous items of its lane,
// unless they ended without arriving, and before the next ones.
func (m *Model) checkOrder(i *item) {
	before := true
	for _, other := range m.lane(i.Lane).items {
		switch {
		case other == i:
			before = false
		case before && other.copies == 0 && !other.ended():
			m.violation("item %d arrived before item %d", i.ID, other.ID)
		case !before && other.copies > 0:
			m.violation("item %d arrived after item %d", i.ID, other.ID)
		}
	}
}

func (m *Model) checkLimits(a arrival) {
	m.arrivals = append(m.arrivals, a)
	windows := m.rules.Group
	if a.private {
		windows = m.rules.Private
	}
	m.checkWindows("the chat", windows, func(other arrival) bool { return other.chat == a.chat })
	m.checkWindows("all chats", m.rules.Total, func(arrival) bool { return true })
}

func (m *Model) checkWindows(what string, windows []Window, counts func(arrival) bool) {
	for _, w := range windows {
		n := 0
		for _, a := range m.arrivals {
			if counts(a) && m.now().Sub(a.at) < w.Per {
				n++
			}
		}
		if n == w.N {
			m.limitHits++
		}
		if n > w.N {
			m.violation("%d requests to %s in %v", n, what, w.Per)
		}
	}
}

// Cut records that a request is canceled. A cancellation after the timeout of the request is a
// violation.
func (m *Model) Cut(r *Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.note("the request of epoch %d for %v is canceled", r.epoch, idsOf(r.items))
	r.canceledAt = m.now()
	if took := r.canceledAt.Sub(r.begun); took > m.allowed(r) {
		m.violation("the request for %v is canceled after %v", idsOf(r.items), took)
	}
}

func (m *Model) allowed(r *Request) time.Duration {
	if r.repeats == 0 || !r.lane.isPaced() {
		return m.rules.Timeout
	}
	return m.rules.Timeout * 8 / 5
}

// Full returns how often a request used up a limit.
func (m *Model) Full() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.limitHits
}

// Ends records the answer to a request, and for RateLimited the wait that the messenger asks for.
// If the answer comes later than Rules.Grace after the cancellation, the outcome stays unknown.
func (m *Model) Ends(r *Request, answer Answer, wait time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.note("the request of epoch %d for %v ends: %q, wait %v", r.epoch, idsOf(r.items), answer, wait)
	r.returned, r.answer = true, answer
	m.requests++
	if m.isGivenUp(r) {
		r.answer = Ambiguous
		m.failures++
		return
	}
	l := m.lane(r.lane)
	l.hold = hold{until: m.now(), request: r}
	switch answer {
	case RateLimited:
		l.hold.until, l.hold.lane = m.now().Add(max(time.Second, wait)), r.lane.isPaced()
		m.failures++
	case Ambiguous:
		pause := minBackoff
		if r.lane.isPaced() {
			pause = ambiguousPause(r.items[0], r.repeats, m.rules.Timeout) * 7 / 10
		}
		l.hold.until = m.now().Add(pause)
		m.failures++
	case Unreachable, Unauthorized:
		l.hold.until = m.now().Add(minBackoff)
		m.failures++
	case Failed, Migrated:
		l.hold.until = m.now().Add(minBackoff)
	}
	m.markReady(l)
}
