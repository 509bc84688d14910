package outbox

import (
	"log/slog"
	"testing"
	"time"
)

// renewedLease is a Lease that is renewed just after it has been looked at.
type renewedLease struct{ calls int }

func (l *renewedLease) Epoch() int64 { return 1 }

func (l *renewedLease) Left() time.Duration {
	l.calls++
	return time.Duration(l.calls-1) * time.Hour
}

// A moment that comes while the dispatcher looks at what is to be done is not missed: it knows at the end of its step
// that there is something to be done by now.
func TestNoWakeUpIsMissed(t *testing.T) {
	t.Parallel()
	limits := Limits{Total: []Window{{1, time.Minute}}}
	for name, c := range map[string]struct {
		limits  Limits
		lease   Lease
		set     func(tm *term, l *lane, now, soon time.Time)
		maxWait time.Duration
	}{
		"the time of a lane": {Limits{}, newLease(1), func(tm *term, l *lane, now, soon time.Time) {
			l.notBefore = soon
			tm.schedule(l, now)
		}, 0},
		"the pace of all": {limits, newLease(1), func(tm *term, l *lane, now, soon time.Time) {
			tm.pace.add(soon.Add(-time.Minute))
			tm.schedule(l, now)
		}, 0},
		"the end of a standstill": {Limits{}, newLease(1), func(tm *term, l *lane, now, soon time.Time) {
			tm.breaker.close(soon)
			tm.schedule(l, now)
		}, 0},
		"the end of the journal's pause": {Limits{}, newLease(1), func(tm *term, _ *lane, _, soon time.Time) {
			tm.journal.retryAt = soon
		}, 0},
		"when a result is to be written": {Limits{}, newLease(1), func(tm *term, l *lane, _, soon time.Time) {
			tm.results = []result{{lane: l, persistAt: soon}}
		}, 0},
		"a lease": {Limits{}, &renewedLease{}, func(tm *term, l *lane, now, _ time.Time) {
			tm.schedule(l, now)
		}, leasePoll},
		"a lease, for toasts": {Limits{}, &renewedLease{}, func(tm *term, l *lane, now, _ time.Time) {
			l.CallbackAnswers = true
			tm.schedule(l, now)
		}, leasePoll},
	} {
		d := NewDispatcher(newMemory(), newMessenger(t, nil), slog.New(slog.DiscardHandler), Settings{Limits: c.limits})
		tm := newTerm(d, c.lease)
		now := time.Now()
		c.set(tm, tm.lane(Lane{Chat: 1}, now), now, now.Add(1))
		if wait := tm.step(t.Context(), now); wait > c.maxWait {
			t.Errorf("%s: the dispatcher waits for %v", name, wait)
		}
		tm.workers.Wait()
		if tm.journal.persisting {
			t.Errorf("%s: something is done before its time", name)
		}
	}
}
