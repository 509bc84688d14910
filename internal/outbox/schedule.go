package outbox

import "time"

// lane returns a lane, a new one that does nothing yet if it is not in memory.
func (t *term) lane(key Lane, now time.Time) *lane {
	l, ok := t.lanes[key]
	if !ok {
		l = &lane{Lane: key, state: busy, level: levelGroup, since: now}
		t.lanes[key] = l
	}
	return l
}

// wake takes note of the lanes to which something was added.
func (t *term) wake(now time.Time) {
	for key := range t.takeWoken() {
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
		// a lane that waits for its time or its turn will come to what is new anyway
	}
}

// discover takes note of all lanes in which something waits, as the store says. The store also knows best how long they
// have to wait: who has frozen a chat may not be who thaws it.
func (t *term) discover(backlogs []Backlog, now time.Time) {
	t.away = 0
	for _, b := range backlogs {
		l, since := t.lanes[b.Lane], now.Add(-b.Age)
		if l == nil {
			if b.Wait > 0 {
				t.away++
				continue // until it may be sent there is nothing to be remembered of it
			}
			l = t.lane(b.Lane, now)
		} else {
			if l.state == busy {
				continue
			}
			t.dequeue(l)
			if l.since.After(since) {
				since = l.since // it has had its turn when this waited already
			}
		}
		l.level, l.since = t.settings.level(b.To, b.Private, b.Purpose), since
		l.pace.windows = t.settings.Limits.of(b.Private)
		l.notBefore = now.Add(b.Wait)
		if b.Wait > 0 {
			l.readyAt = time.Time{}
		}
		t.schedule(l, now)
	}
}

func (l Limits) of(private bool) []Window {
	if private {
		return l.Private
	}
	return l.Group
}

// schedule has a lane wait for its time, or for its turn if that has come.
func (t *term) schedule(l *lane, now time.Time) {
	at := l.pace.next(now, 0)
	if l.notBefore.After(at) {
		at = l.notBefore
	}
	if at.After(now) {
		l.state = waiting
		t.patient++
		t.due.add(l, at)
		return
	}
	l.state = ready
	if l.readyAt.IsZero() {
		l.readyAt = now
	}
	switch {
	case l.CallbackAnswers:
		t.callbackAnswers.add(l, l.since)
	case l.slow:
		t.slow.add(l, l.rank())
	default:
		t.ready.add(l, l.rank())
	}
}

// dequeue takes a lane that is not busy out of where it waits.
func (t *term) dequeue(l *lane) {
	switch {
	case l.state == waiting:
		t.patient--
		t.due.remove(l)
	case l.state == idle:
		t.due.remove(l)
	case l.CallbackAnswers:
		t.callbackAnswers.remove(l)
	case l.slow:
		t.slow.remove(l)
	default:
		t.ready.remove(l)
	}
	l.state = busy
}

// rest lets go of a lane that has nothing to be sent. It is forgotten when its pace is.
func (t *term) rest(l *lane, now time.Time) {
	l.backoff, l.slow, l.readyAt = nil, false, time.Time{}
	if until := l.pace.clear(); until.After(now) {
		l.state = idle
		t.due.add(l, until)
		return
	}
	delete(t.lanes, l.Lane)
}

// arouse gives their turn to the lanes whose time has come.
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

// admit gives as many lanes as may send at the same time a place, those that come first first.
func (t *term) startReady(now time.Time) {
	for l := t.callbackAnswers.first(); l != nil && t.hasCallbackSlot() && t.mayBegin(); l = t.callbackAnswers.first() {
		t.dequeue(l)
		t.answeringCallbacks++
		t.takes = append(t.takes, l)
	}
	for l := t.first(); l != nil && t.hasSlot(now) && t.mayBegin(); l = t.first() {
		t.dequeue(l)
		t.sending++
		if l.slow {
			t.long = l
		}
		t.takes = append(t.takes, l)
	}
	t.meter.lanes(len(t.ready)+len(t.slow)+len(t.callbackAnswers), t.patient+t.away, t.sending+t.answeringCallbacks, t.breaker.probing)
}

// first returns the lane that comes first, nil if there is none. One whose request may take longer comes before the others:
// it is the one that gets through when all answers are late, and where one lane tries for all it is this one.
func (t *term) first() *lane {
	if l := t.slow.first(); l != nil && t.long == nil {
		return l
	}
	return t.ready.first()
}

// hasPlace tells whether one more lane may send now, as long as the lease lasts.
func (t *term) hasSlot(now time.Time) bool {
	return t.sending < t.settings.Parallel && t.breaker.allows(t.sending, now) && !t.pace.next(now, t.sending).After(now)
}

// hasToastPlace tells the same for an answer to a button.
func (t *term) hasCallbackSlot() bool { return t.answeringCallbacks < t.settings.Parallel }

// giveBack gives back the place of a lane.
func (t *term) release(l *lane) {
	if t.long == l {
		t.long = nil
	}
	if l.CallbackAnswers {
		t.answeringCallbacks--
	} else {
		t.sending--
	}
}
