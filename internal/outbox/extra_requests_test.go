package outbox

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// inForms returns a messenger that makes the given number of requests for item 1, and one request
// for any other item. Each request takes the given time.
func inForms(t *testing.T, forms int, lasts time.Duration) *messenger {
	t.Helper()
	m := newMessenger(t, answersAfter(lasts))
	m.forms = func(m Message) int {
		if m.Row.ID == 1 {
			return forms
		}
		return 1
	}
	return m
}

// TestExtraRequests checks that extra requests for a message count against all limits. An extra
// request itself waits only for the total limit, and goes before the requests to other chats. The
// chat's next message waits until its limits, which count the extra requests, allow it. Each
// request has the full timeout.
func TestExtraRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const s = time.Second
		store, sender := newMemory(), inForms(t, 3, 4*s)
		p := dispatch(t, store, sender, Settings{PollEvery: noPolls.PollEvery, Limits: Limits{
			Group: []Window{{3, time.Minute}}, Total: []Window{{2, 10 * s}},
		}})
		synctest.Wait()
		begun := time.Now()
		store.add(1, 2, 3, 4, 1)
		for chat := ChatID(1); chat <= 4; chat++ {
			p.Wake(chat)
			advance(t, 1)
		}
		advance(t, 2*time.Minute)
		for chat, want := range map[ChatID][]time.Duration{
			1: {0, 14 * s, 28 * s, 64 * s}, 2: {0}, 3: {14 * s}, 4: {28 * s},
		} {
			var got []time.Duration
			for _, at := range sender.begun(chat, begun) {
				got = append(got, at.Round(time.Microsecond))
			}
			equal(t, got, want, "requests to chat %d", chat)
		}
		if s := p.Stats(); s.Sent != 5 || s.PossibleDuplicates != 0 {
			t.Errorf("%d are sent, with %d possible duplicates", s.Sent, s.PossibleDuplicates)
		}
	})
}

// TestStopBeforeAnExtraRequest checks that a stopping dispatcher begins no extra request. The next
// dispatcher sends the message again, which is not a possible duplicate.
func TestStopBeforeAnExtraRequest(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string]Limits{"in flight": {}, "waiting": {Total: []Window{{1, time.Minute}}}} {
		inBubble(t, name, func(t *testing.T) {
			const lasts = 2 * time.Second
			store, sender := newMemory(), inForms(t, 2, lasts)
			store.add(1)
			p := dispatch(t, store, sender, Settings{Limits: limits})
			stopping := time.Duration(0)
			if name == "waiting" {
				advance(t, 10*time.Second)
			} else {
				advance(t, time.Second)
				stopping = time.Second
			}
			checkBetween(t, "stopping", p.stop(), stopping, stopping)
			if r := store.row(1); len(sender.all()) != 1 || r.state != rowPlanned || r.PossibleDuplicates != 0 {
				t.Errorf("%d requests, the item is %s with %d possible duplicates",
					len(sender.all()), r.state, r.PossibleDuplicates)
			}
			next := dispatch(t, store, sender, Settings{})
			advance(t, time.Minute)
			if r := store.row(1); len(sender.all()) != 3 || r.state != rowSent {
				t.Errorf("%d requests, the item is %s", len(sender.all()), r.state)
			}
			next.stop()
		})
	}
}

// TestExtraRequestsWhileTheCircuitIsOpen checks that, while the circuit is open, an extra request
// waits. When the pause is over, the extra request is the probe.
func TestExtraRequestsWhileTheCircuitIsOpen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newMemory()
		sender := inForms(t, 2, time.Second)
		answer := sender.answer
		store.add(1, 2, 3, 4)
		begun := time.Now()
		sender.answer = func(ctx context.Context, m Message) error {
			if m.Row.ID > 1 && m.Row.Attempts == 1 {
				return rateLimited(10 * time.Second)
			}
			return answer(ctx, m)
		}
		p := dispatch(t, store, sender, Settings{})
		advance(t, 5*time.Second)
		if !p.Stats().CircuitOpen {
			t.Fatal("the circuit is closed")
		}
		advance(t, time.Minute)
		all := sender.all()
		if probe := all[4]; probe.chat != 1 || !probe.extra || p.Stats().CircuitOpen {
			t.Errorf("the probe is %+v", probe)
		}
		for i, r := range all[4:] {
			if at := r.begun.Sub(begun); at < 10*time.Second || i > 0 && at < 11*time.Second {
				t.Errorf("request %d begins at %v", i, at)
			}
		}
		equal(t, store.count(rowSent), 4, "items sent")
	})
}

// TestPreparationTakesNoTimeFromTheRequest checks that the time that the sender takes before the
// first request, for example to draw a picture, does not shorten the request's timeout. The request
// waits until the lease lasts long enough. The request does not begin if the dispatcher stops, if
// the lease is not renewed, or if the preparation takes longer than longestPreparation.
func TestPreparationTakesNoTimeFromTheRequest(t *testing.T) {
	t.Parallel()
	const s = time.Second
	for name, tc := range map[string]struct {
		takes, lease   time.Duration
		renewed, stops bool
		requests       int
	}{
		"sent": {takes: 3 * s, lease: time.Hour, requests: 1}, "stopped": {takes: 3 * s, lease: time.Hour, stops: true},
		"stopped while the lease is short": {takes: 500 * time.Millisecond, lease: 6200 * time.Millisecond, stops: true},
		"until the lease is renewed":       {takes: 500 * time.Millisecond, lease: 6200 * time.Millisecond, renewed: true, requests: 1},
		"without a lease":                  {takes: 3 * s, lease: 7 * s}, "slow": {takes: 25 * s, lease: time.Hour, requests: 1},
		"too slow": {takes: 30*s + s/2, lease: time.Hour},
	} {
		inBubble(t, name, func(t *testing.T) {
			store, sender := newMemory(), newMessenger(t, answersAfter(4*s))
			sender.silent = func(Message) bool {
				_ = sleep(t.Context(), tc.takes)
				return false
			}
			store.add(1)
			lease := &limitedLease{until: time.Now().Add(tc.lease)}
			p := dispatchWith(t, store, sender, Settings{}, lease)
			advance(t, s)
			switch {
			case tc.renewed:
				lease.renew(time.Hour)
			case tc.stops:
				checkBetween(t, "stopping", p.stop(), max(0, tc.takes-s), max(leasePoll, tc.takes-s))
			}
			advance(t, 35*s)
			r := store.row(1)
			if n, sent := len(sender.all()), r.state == rowSent; n != tc.requests ||
				sent != (tc.requests > 0) || r.PossibleDuplicates != 0 {
				t.Errorf("%d requests, the item is %s with %d possible duplicates", n, r.state, r.PossibleDuplicates)
			}
		})
	}
}
