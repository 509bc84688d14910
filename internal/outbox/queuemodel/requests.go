package queuemodel

import (
	"slices"
	"time"
)

// backoff is the least time between a request that has failed for a reason that passes and the next one.
const backoff = 350 * time.Millisecond

// copies is how many requests may be made that each have perhaps delivered an item.
const copies = 5

// unknown returns the usual time between a request whose outcome is unknown and the next one, when there were so many of
// them before, and a request may usually take so long: 1, 10, 100 s and 15 minutes for 5 s. The least time is 30 % less, the
// most 30 % more, but never more than the longest of these.
func unknown(i *item, before int, timeout time.Duration) time.Duration {
	if before >= copies-1 && !i.Harmless {
		return 0 // it ends
	}
	return timeout * []time.Duration{1, 10, 100, 900}[min(before, 3)] / 5
}

// Begins says that an instance makes a request that tells these items. An excused one is made by a process that was
// frozen after it had found that it may: nothing can keep it from overlapping the next leader.
func (m *Model) Begins(epoch int64, lane Lane, ids []int64, excused bool) *Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.note("a request of %d for %v begins", epoch, ids)
	l := m.lane(lane)
	r := &Request{by: epoch, lane: lane, begun: m.now(), excused: excused}
	for _, id := range ids {
		r.told = append(r.told, m.items[id])
	}
	r.private, r.again = r.told[0].Private, r.told[0].again
	t := l.take
	if t != nil && t.by == epoch {
		if t.request != nil {
			m.complain("there are two requests for what was taken once: %v", ids)
		}
		t.request = r
	}
	if !excused {
		m.judge(l, r)
	}
	m.underWay = slices.DeleteFunc(m.underWay, func(r *Request) bool { return !m.isUnderWay(r) })
	m.underWay = append(m.underWay, r)
	return r
}

// judge says what is wrong with a request that begins.
func (m *Model) judge(l *lane, r *Request) {
	ids := numbers(r.told)
	switch t := l.take; {
	case t == nil || t.by != r.by || !slices.Equal(t.items[:min(len(t.items), len(r.told))], r.told):
		m.complain("a request tells %v, which was not taken", ids)
	case t.same != nil && !slices.Equal(t.same, r.told):
		m.complain("a request tells %v, but perhaps %v was sent", ids, numbers(t.same))
	}
	if l.first() != r.told[0] {
		m.complain("item %d is sent before its turn", ids[0])
	}
	for _, i := range r.told {
		if i.ended() {
			m.complain("item %d is %s and is sent", i.ID, i.state)
		}
		if i.isUsedUp() {
			m.complain("item %d is sent, of which there are perhaps %d copies", i.ID, i.again)
		}
	}
	if other := m.busy(r.by, r.lane); other != nil {
		m.complain("a request for %v begins while one for %v is under way", ids, numbers(other.told))
	}
	parallel := 1
	for _, other := range m.underWay {
		if other.by == r.by && other.lane.Toasts == r.lane.Toasts && m.isUnderWay(other) {
			parallel++
		}
	}
	if parallel > m.rules.Parallel {
		m.complain("%d requests are under way", parallel)
	}
	until := l.frozen
	if l.hold.keeps(r) && l.hold.until.After(until) {
		until = l.hold.until
	}
	if m.now().Before(until) {
		m.complain("a request for %v begins %v too early after a failure", ids, until.Sub(m.now()))
	}
	if l.parked {
		m.complain("a request for %v goes to a chat that cannot be written to", ids)
	}
	if waited, allowed := m.sinceClear(l); m.rules.Prompt && waited > allowed {
		m.complain("a request for %v begins %v after it could have, %v are good", ids, waited, allowed)
	}
}

// Excuse says that the process froze after a request began and before it was written.
func (m *Model) Excuse(r *Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.note("the request of %d for %v is late", r.by, numbers(r.told))
	r.excused = true
}

// Reaches says that a request has come to the messenger, which counts it, and whether people can read what it tells.
func (m *Model) Reaches(r *Request, delivers bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.note("the request of %d for %v arrives, delivers: %t", r.by, numbers(r.told), delivers)
	switch {
	case r.excused:
		m.disturbed = true
	case r.by != m.leader:
		m.complain("a request for %v arrives when another instance leads", numbers(r.told))
	}
	if !r.excused && !r.lane.Toasts {
		m.count(arrival{r.lane.Chat, r.private, m.now()})
	}
	if !delivers {
		return
	}
	r.delivered = true
	for _, i := range r.told {
		i.copies++
		m.says[i.Object] = i.Says
		if i.copies == 1 && !r.excused {
			m.judgeFirst(i)
		}
	}
}

// judgeFirst says what is wrong with the order in which the first copy of an item arrives.
func (m *Model) judgeFirst(i *item) {
	before := true
	for _, other := range m.lane(i.Lane).items {
		switch {
		case other == i:
			before = false
		case before && other.copies == 0 && !other.ended():
			m.complain("item %d arrives before item %d", i.ID, other.ID)
		case !before && other.copies > 0:
			m.complain("item %d arrives after item %d", i.ID, other.ID)
		}
	}
}

// count says whether a request exceeds a limit.
func (m *Model) count(a arrival) {
	m.arrivals = append(m.arrivals, a)
	windows := m.rules.Group
	if a.private {
		windows = m.rules.Private
	}
	m.exceeds("the chat", windows, func(other arrival) bool { return other.chat == a.chat })
	m.exceeds("all chats", m.rules.Total, func(arrival) bool { return true })
}

func (m *Model) exceeds(what string, windows []Window, counts func(arrival) bool) {
	for _, w := range windows {
		n := 0
		for _, a := range m.arrivals {
			if counts(a) && m.now().Sub(a.at) < w.Per {
				n++
			}
		}
		if n == w.N {
			m.full++
		}
		if n > w.N {
			m.complain("%d requests to %s in %v", n, what, w.Per)
		}
	}
}

// Cut says that a request is asked to come back.
func (m *Model) Cut(r *Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.note("the request of %d for %v is cut off", r.by, numbers(r.told))
	r.cut = m.now()
	if took := r.cut.Sub(r.begun); took > m.allowed(r) {
		m.complain("the request for %v is cut off after %v", numbers(r.told), took)
	}
	m.lasted(r)
}

// allowed returns how long a request may take.
func (m *Model) allowed(r *Request) time.Duration {
	if r.lane.Toasts {
		return m.rules.Timeout
	}
	return m.rules.Timeout * []time.Duration{1, 2, 4, 6, 6, 6}[min(r.again, copies)]
}

// lasted takes note of how long a request has taken, and says whether another one has taken long at the same time.
func (m *Model) lasted(r *Request) {
	if m.now().Sub(r.begun) <= m.rules.Timeout || !r.last.IsZero() {
		return
	}
	r.last = m.now()
	for _, other := range m.longer {
		if other.by == r.by && other.last.After(r.begun) {
			m.complain("the requests for %v and %v take longer at the same time", numbers(other.told), numbers(r.told))
		}
	}
	m.longer = append(m.longer, r)
}

// Full returns how many requests were the last ones that a limit allowed.
func (m *Model) Full() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.full
}

// Ends says what comes back for a request, and for how long the messenger asks to wait.
func (m *Model) Ends(r *Request, answer Answer, wait time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.note("the request of %d for %v ends: %q, wait %v", r.by, numbers(r.told), answer, wait)
	r.back, r.answer = true, answer
	m.requests++
	if r.cut.IsZero() {
		m.lasted(r)
	}
	if m.isGivenUp(r) {
		r.answer = Ambiguous
		m.failures++
		return
	}
	l := m.lane(r.lane)
	l.hold = hold{until: m.now(), request: r}
	switch answer {
	case RateLimited:
		l.hold.until, l.hold.lane = m.now().Add(max(time.Second, wait)), !r.lane.Toasts
		m.failures++
	case Ambiguous:
		pause := backoff
		if !r.lane.Toasts {
			pause = unknown(r.told[0], r.again, m.rules.Timeout) * 7 / 10
		}
		l.hold.until = m.now().Add(pause)
		m.failures++
	case Unreachable, Unauthorized:
		l.hold.until = m.now().Add(backoff)
		m.failures++
	case Failed, Migrated:
		l.hold.until = m.now().Add(backoff)
	}
	m.clear(l)
}
