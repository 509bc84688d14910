package outbox

import (
	"log/slog"
	"testing"
	"time"
)

// renewedLease is a Lease that has expired at the first call of Remaining and lasts for at least an
// hour at each later call.
type renewedLease struct{ calls int }

func (l *renewedLease) Epoch() int64 { return 1 }

func (l *renewedLease) Remaining() time.Duration {
	l.calls++
	return time.Duration(l.calls-1) * time.Hour
}

// TestNoWakeUpIsMissed checks that, if something becomes possible during a step, the dispatcher
// runs the next step at once. If the lease is renewed during a step, the next step follows within
// leasePoll.
func TestNoWakeUpIsMissed(t *testing.T) {
	t.Parallel()
	limits := Limits{Total: []Window{{1, time.Minute}}}
	for name, c := range map[string]struct {
		limits  Limits
		lease   Lease
		set     func(tm *term, l *lane, now, soon time.Time)
		maxWait time.Duration
	}{
		"the pause of a lane": {Limits{}, newLease(1), func(tm *term, l *lane, now, soon time.Time) {
			l.notBefore = soon
			tm.schedule(l, now)
		}, 0},
		"the total limit": {limits, newLease(1), func(tm *term, l *lane, now, soon time.Time) {
			tm.pace.add(soon.Add(-time.Minute))
			tm.schedule(l, now)
		}, 0},
		"the total limit, for an extra request": {limits, newLease(1), func(tm *term, l *lane, _, soon time.Time) {
			tm.claim(l)
			tm.pace.add(soon.Add(-time.Minute))
			tm.extra = []extraRequest{{lane: l, begin: make(chan error, 1)}}
		}, 0},
		"the pause of the circuit breaker, for an extra request": {Limits{}, newLease(1), func(tm *term, l *lane, _, soon time.Time) {
			tm.claim(l)
			tm.breaker.trip(soon)
			tm.extra = []extraRequest{{lane: l, begin: make(chan error, 1)}}
		}, 0},
		"the pause of the circuit breaker": {Limits{}, newLease(1), func(tm *term, l *lane, now, soon time.Time) {
			tm.breaker.trip(soon)
			tm.schedule(l, now)
		}, 0},
		"the pause after a failure to persist": {Limits{}, newLease(1), func(tm *term, _ *lane, _, soon time.Time) {
			tm.writer.nextAt = soon
		}, 0},
		"a result to persist": {Limits{}, newLease(1), func(tm *term, l *lane, _, soon time.Time) {
			tm.results = []result{{lane: l, persistAt: soon}}
		}, 0},
		"a lease": {Limits{}, &renewedLease{}, func(tm *term, l *lane, now, _ time.Time) {
			tm.schedule(l, now)
		}, leasePoll},
		"a lease, for an extra request": {Limits{}, &renewedLease{}, func(tm *term, l *lane, _, _ time.Time) {
			tm.claim(l)
			tm.extra = []extraRequest{{lane: l, begin: make(chan error, 1)}}
		}, leasePoll},
		"a lease, for answers to buttons": {Limits{}, &renewedLease{}, func(tm *term, l *lane, now, _ time.Time) {
			l.Kind = CallbackAnswers
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
		if tm.writer.persisting {
			t.Errorf("%s: something is persisted too early", name)
		}
	}
}
