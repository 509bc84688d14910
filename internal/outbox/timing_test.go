package outbox

import (
	"log/slog"
	"testing"
	"time"
)

// renewedLease is a Lease that is renewed just after it has been looked at.
type renewedLease struct{ looks int }

func (l *renewedLease) Epoch() int64 { return 1 }

func (l *renewedLease) Left() time.Duration {
	l.looks++
	return time.Duration(l.looks-1) * time.Hour
}

// A moment that comes while the dispatcher looks at what is to be done is not missed: it knows at the end of its step
// that there is something to be done by now.
func TestNoMomentIsMissed(t *testing.T) {
	t.Parallel()
	limits := Limits{Total: []Window{{1, time.Minute}}}
	for name, c := range map[string]struct {
		limits Limits
		lease  Lease
		set    func(tn *term, l *lane, now, soon time.Time)
		most   time.Duration
	}{
		"the time of a lane": {Limits{}, hold(1), func(tn *term, l *lane, now, soon time.Time) {
			l.notBefore = soon
			tn.schedule(l, now)
		}, 0},
		"the pace of all": {limits, hold(1), func(tn *term, l *lane, now, soon time.Time) {
			tn.pace.add(soon.Add(-time.Minute))
			tn.schedule(l, now)
		}, 0},
		"the end of a standstill": {Limits{}, hold(1), func(tn *term, l *lane, now, soon time.Time) {
			tn.breaker.close(soon)
			tn.schedule(l, now)
		}, 0},
		"the end of the journal's pause": {Limits{}, hold(1), func(tn *term, _ *lane, _, soon time.Time) {
			tn.journal.retryAt = soon
		}, 0},
		"when a result is to be written": {Limits{}, hold(1), func(tn *term, l *lane, _, soon time.Time) {
			tn.results = []result{{lane: l, persistAt: soon}}
		}, 0},
		"a lease": {Limits{}, &renewedLease{}, func(tn *term, l *lane, now, _ time.Time) {
			tn.schedule(l, now)
		}, leasePoll},
		"a lease, for toasts": {Limits{}, &renewedLease{}, func(tn *term, l *lane, now, _ time.Time) {
			l.CallbackAnswers = true
			tn.schedule(l, now)
		}, leasePoll},
	} {
		d := NewDispatcher(newMemory(), newMessenger(t, nil), slog.New(slog.DiscardHandler), Settings{Limits: c.limits})
		tn := newTerm(d, c.lease)
		now := time.Now()
		c.set(tn, tn.lane(Lane{Chat: 1}, now), now, now.Add(1))
		if wait := tn.step(t.Context(), now); wait > c.most {
			t.Errorf("%s: the dispatcher waits for %v", name, wait)
		}
		tn.workers.Wait()
		if tn.journal.persisting {
			t.Errorf("%s: something is done before its time", name)
		}
	}
}
