package outbox

import (
	"slices"
	"time"
)

// lane returns the state of a lane. If the lane is not in memory, lane adds it as busy, and the
// caller must schedule it or make it idle.
func (t *term) lane(key Lane, now time.Time) *lane {
	l, ok := t.lanes[key]
	if !ok {
		l = &lane{Lane: key, state: busy, level: t.settings.level(key, 0, false, ""), since: now, chat: new(chatPace)}
		// the limits of both kinds of chats apply until the kind is known
		l.chat.setLimits(slices.Concat(t.settings.Limits.Private, t.settings.Limits.Group))
		for _, k := range key.others() {
			if other := t.lanes[k]; other != nil {
				l.chat = other.chat
			}
		}
		t.lanes[key] = l
	}
	return l
}

func (t *term) onWake(now time.Time) {
	for key := range t.takeWoken() {
		t.touch(key)
		known := t.lanes[key] != nil
		l := t.lane(key, now)
		switch {
		case !known:
			t.schedule(l, now)
		case l.state == idle:
			t.due.remove(l)
			l.since = now
			t.schedule(l, now)
		case l.state == busy:
			l.woken = true
		}
		// a paused or ready lane will take the new items anyway
	}
}

// touch calls Settings.Touched for the chat of a lane, unless the lane holds boards.
func (t *term) touch(l Lane) {
	if t.settings.Touched != nil && l.Kind != Boards {
		t.settings.Touched(l.Chat)
	}
}

// onPolled schedules lanes with waiting items. It leaves out busy lanes, and lanes that are neither
// in memory nor allowed to send yet. The wait that the store reports replaces the one in memory,
// because another instance may have changed the pause of the chat.
func (t *term) onPolled(backlogs []Backlog, now time.Time) {
	for _, b := range backlogs {
		l, since := t.lanes[b.Lane], now.Add(-b.Age)
		if l == nil {
			if b.Wait > 0 {
				continue // a later poll adds the lane when it may send
			}
			l = t.lane(b.Lane, now)
		} else {
			if l.state == busy {
				l.summarize = l.summarize || b.Overfull
				continue
			}
			t.dequeue(l)
			since = latest(since, l.since) // the lane may have had a turn while this item was waiting
		}
		l.summarize = l.summarize || b.Overfull
		l.level, l.since = t.settings.level(b.Lane, b.To, b.Private, b.Purpose), since
		l.chat.setLimits(t.settings.Limits.forChat(b.Private))
		l.notBefore = now.Add(b.Wait)
		if b.Wait > 0 {
			l.readyAt = time.Time{}
		}
		t.schedule(l, now)
	}
}

func (l Limits) forChat(private bool) []Window {
	if private {
		return l.Private
	}
	return l.Group
}

// schedule makes a lane wait until it may send or, if it already may, for its turn.
func (t *term) schedule(l *lane, now time.Time) {
	if at := latest(t.mayBeginAt(l, now), l.notBefore); at.After(now) {
		l.state = paused
		t.due.add(l, at)
		return
	}
	l.state = ready
	if l.readyAt.IsZero() {
		l.readyAt = now
	}
	order := rank(l.since, l.level)
	switch messages := t.lanes[Lane{l.Chat, Messages}]; {
	case l.Kind == CallbackAnswers:
		t.callbackAnswers.add(l, l.since)
	case t.refusals.unsettled(l):
		// In an outage, this lane's item would only be refused again. Other lanes go first: if one
		// of their requests is accepted, the item itself is at fault.
		t.ready.add(l, order.Add(outageLimit))
	case l.Kind == Pages && messages != nil && messages.state != idle && !l.since.Add(pagePatience).After(now):
		// the page has waited long enough to get the priority of its chat's messages
		t.ready.add(l, rank(l.since, messages.level))
	default:
		t.ready.add(l, order)
	}
}

// pagePatience is how long a page lets the messages of its chat go first. Even in a busy chat,
// buttons must respond.
const pagePatience = 10 * time.Second

// mayBeginAt returns the earliest moment, not before now, at which the lane's chat allows it to
// begin a request. A board waits until the chat has no messages or pages to send. A page waits for
// messages, but not longer than pagePatience.
func (t *term) mayBeginAt(l *lane, now time.Time) time.Time {
	at := l.paceAllowsAt(now)
	for _, key := range l.others() {
		switch other := t.lanes[key]; {
		case other == nil || other.state == idle:
		case l.Kind == Boards:
			return now.Add(farFuture)
		case l.Kind == Pages && key.Kind == Messages:
			at = latest(at, l.since.Add(pagePatience))
		}
	}
	return at
}

// dequeue removes a lane that is not busy from its heap and makes it busy.
func (t *term) dequeue(l *lane) {
	switch {
	case l.state == paused, l.state == idle:
		t.due.remove(l)
	case l.Kind == CallbackAnswers:
		t.callbackAnswers.remove(l)
	default:
		t.ready.remove(l)
	}
	l.state = busy
}

// makeIdle marks a busy lane as having nothing to send. The lane stays in memory as long as recent
// requests count against the chat's limits. The chat's other lanes may have waited for this lane,
// so makeIdle reschedules them.
func (t *term) makeIdle(l *lane, now time.Time) {
	l.backoff, l.repeats, l.readyAt = nil, false, time.Time{}
	if until := l.chat.clearAt(); until.After(now) {
		l.state = idle
		t.due.add(l, until)
	} else {
		delete(t.lanes, l.Lane)
	}
	for _, other := range l.others() {
		t.reschedule(other, now)
	}
}

// reschedule schedules a paused lane again, because the reason for its pause may be over.
func (t *term) reschedule(key Lane, now time.Time) {
	if l := t.lanes[key]; l != nil && l.state == paused {
		t.dequeue(l)
		t.schedule(l, now)
	}
}

// promoteDue schedules paused lanes whose wait is over, and removes idle lanes once no requests
// count against their chats' limits.
func (t *term) promoteDue(now time.Time) {
	for l := t.due.first(); l != nil && !l.order.After(now); l = t.due.first() {
		if l.state == idle {
			t.due.remove(l)
			delete(t.lanes, l.Lane)
		} else {
			t.dequeue(l)
			t.schedule(l, now)
		}
	}
}

// startReady gives send slots to ready lanes, highest priority first, as far as the number of
// slots, the circuit, the limits, and the lease allow. Lanes of callback answers go first: they
// have slots of their own, and need only such a slot and the lease.
func (t *term) startReady(now time.Time) {
	for l := t.callbackAnswers.first(); l != nil && t.hasCallbackSlot() &&
		t.mayBegin(t.settings.SendTimeout); l = t.callbackAnswers.first() {
		t.dequeue(l)
		t.answeringCallbacks++
		t.takes = append(t.takes, l)
	}
	for l := t.ready.first(); l != nil && t.hasSlot(now) && t.mayBegin(t.settings.SendTimeout); l = t.ready.first() {
		t.dequeue(l)
		if t.mayBeginAt(l, now).After(now) {
			// after this lane became ready, another lane of its chat began a request, or got
			// something that goes first
			t.schedule(l, now)
			continue
		}
		if l.repeats && !t.mayBegin(t.settings.timeout(true)) {
			// The lease must be renewed first: a repeated request may take longer than a first one.
			l.notBefore = now.Add(leasePoll)
			t.schedule(l, now)
			continue
		}
		t.claim(l)
		t.takes = append(t.takes, l)
	}
	t.stats.lanes(len(t.ready)+len(t.callbackAnswers), t.sending+t.answeringCallbacks, t.breaker.open)
}

// hasSlot reports whether another lane may get a send slot now, regardless of the lease.
func (t *term) hasSlot(now time.Time) bool {
	return t.sending < t.settings.Parallel && t.breaker.allows(t.sending, now) && !t.pace.next(now, t.sending).After(now)
}

func (t *term) hasCallbackSlot() bool { return t.answeringCallbacks < t.settings.Parallel }

// claim gives a send slot to a lane. Lanes of callback answers have separate slots, and must not be
// claimed.
func (t *term) claim(l *lane) {
	t.sending++
	l.chat.inFlight++
}

// release frees the slot of a lane. It reschedules the other lanes that share the pace of its chat,
// because they may be waiting for the end of the lane's request.
func (t *term) release(l *lane, now time.Time) {
	if l.Kind == CallbackAnswers {
		t.answeringCallbacks--
		return
	}
	t.sending--
	l.chat.inFlight--
	for _, other := range l.others() {
		t.reschedule(other, now)
	}
}
