package outbox

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"
)

// unavailable returns a function that fails all requests with the given kind until the given time,
// and then succeeds. Each request takes the duration lasts.
func unavailable(until time.Time, kind FailureKind, lasts time.Duration) func(context.Context, Message) error {
	return func(ctx context.Context, m Message) error {
		if time.Now().Before(until) {
			if err := sleep(ctx, lasts); err != nil {
				return &Failure{Kind: Ambiguous, Err: err}
			}
			return failure(kind)
		}
		return answersAfter(lasts)(ctx, m)
	}
}

// TestOutage checks that, once requests have failed in three chats, one lane at a time makes a
// request, at intervals that grow up to 20 s, and the other lanes wait. After the outage, all items
// are sent.
func TestOutage(t *testing.T) {
	t.Parallel()
	const chats, parallel, lasts = 100, 8, 10 * time.Millisecond
	for _, kind := range []FailureKind{Unreachable, Ambiguous, Unauthorized} {
		inBubble(t, string(kind), func(t *testing.T) {
			end := time.Now().Add(5 * time.Minute)
			store, sender, book := newMemory(), newMessenger(t, unavailable(end, kind, lasts)), newLogbook()
			for c := range ChatID(chats) {
				store.add(c, c)
			}
			settings := Settings{Parallel: parallel, Bounds: Bounds{Merge: 1}}
			p := run(t, NewDispatcher(store, sender, slog.New(book), settings), newLease(1))
			advance(t, 5*time.Minute-1)
			if !p.Stats().CircuitOpen {
				t.Error("the circuit is not open")
			}
			// The requests in flight at the third failure come first, then one request at a time.
			requests, opens := sender.all(), sender.all()[0].ended
			first := slices.IndexFunc(requests, func(r request) bool { return r.begun.After(opens) })
			if first > parallel+2 || len(requests) < first+5 || len(requests) > first+30 {
				t.Fatalf("%d requests during the outage, %d of them at first", len(requests), first)
			}
			probes := []time.Time{opens}
			for i, r := range requests[first:] {
				if r.begun.Before(requests[first+i-1].ended) {
					t.Fatalf("request %d starts before the previous one has ended", first+i+1)
				}
				// A pause begins with the answer, so the time that the requests took is subtracted.
				probes = append(probes, r.begun.Add(-time.Duration(i)*lasts))
			}
			checkBackoff(t, probes)

			advance(t, 26*time.Second+rounding+chats*2*lasts+26*time.Second)
			if kind == Ambiguous { // several unknown outcomes make the pause longer
				if n := store.count(rowSent); n < chats*2-10 {
					t.Errorf("%d of %d are sent soon", n, chats*2)
				}
				advance(t, 20*time.Minute)
			}
			equal(t, store.count(rowSent), chats*2, "items sent after the outage")
			if p.Stats().CircuitOpen {
				t.Error("the circuit is still open")
			}
			equal(t, len(book.lines("messenger answers again, circuit closed")), 1, "ends of the outage")
		})
	}
}

// TestOutageEndsWithTheFirstAnswer checks that the first request that succeeds or fails as
// Rejected, Forbidden or Obsolete ends the outage for all chats.
func TestOutageEndsWithTheFirstAnswer(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]error{
		"success": nil, "rejected": failure(Rejected), "forbidden": failure(Forbidden), "obsolete": failure(Obsolete),
	} {
		inBubble(t, name, func(t *testing.T) {
			const chats = 50
			end := time.Now().Add(time.Minute)
			unreachable := unavailable(end, Unreachable, 0)
			answered := false
			store := newMemory()
			sender := newMessenger(t, func(ctx context.Context, m Message) error {
				if time.Now().Before(end) || answered {
					return unreachable(ctx, m)
				}
				answered = true
				return answer
			})
			for c := range ChatID(chats) {
				store.add(c)
			}
			dispatch(t, store, sender, Settings{Parallel: 4})
			advance(t, time.Minute+26*time.Second+rounding)
			moments := make(map[time.Time]int)
			for _, r := range sender.all() {
				moments[r.begun]++
			}
			together := 0
			for at, n := range moments {
				if !at.Before(end) {
					together = max(together, n)
				}
			}
			if together < chats/2 {
				t.Errorf("%d requests at the time of the first answer, want most of %d", together, chats)
			}
		})
	}
}

func TestBreakerInOutage(t *testing.T) {
	t.Parallel()
	start := time.Now()
	at := func(s float64) time.Time { return start.Add(time.Duration(s * float64(time.Second))) }
	const ok, fails = true, false
	type step struct {
		chat  ChatID
		at    float64
		ok    bool
		opens bool // whether the circuit is open afterward
	}
	for name, steps := range map[string][]step{
		"three lanes":              {{1, 0, fails, false}, {2, 0, fails, false}, {3, 0, fails, true}},
		"one lane, three times":    {{1, 0, fails, false}, {1, 1, fails, false}, {1, 2, fails, false}},
		"it succeeded afterwards":  {{1, 0, fails, false}, {2, 0, fails, false}, {2, 1, ok, false}, {3, 1, fails, false}},
		"another chat is answered": {{1, 0, fails, false}, {2, 0, fails, false}, {9, 1, ok, false}, {3, 1, fails, false}, {1, 2, fails, false}, {2, 2, fails, true}},
	} {
		var b breaker
		for i, s := range steps {
			opens := false
			if s.ok {
				b.answered(at(s.at))
			} else {
				opens = b.failed(s.chat, false, at(s.at)) > 0
			}
			if opens != s.opens || b.open != s.opens {
				t.Errorf("%s: after step %d the circuit is open: %t, want %t", name, i+1, b.open, s.opens)
			}
		}
	}
}

// TestBreakerProbes checks that each failed probe doubles the pause, up to 20 s and within the
// jitter. Answers and failures before the end of a pause do not count. The first answer after a
// pause closes the circuit and resets the pauses.
func TestBreakerProbes(t *testing.T) {
	t.Parallel()
	now := time.Now()
	var b breaker
	for round := range 2 {
		base := 500 * time.Millisecond
		b.failed(1, false, now)
		b.failed(2, false, now)
		pause := b.failed(3, false, now)
		for range 10 {
			checkBetween(t, "pause", pause, base*7/10, base*13/10)
			early := []time.Duration{b.failed(4, false, now.Add(pause-1)), b.rateLimited(4, time.Hour, now.Add(pause-1))}
			equal(t, early, []time.Duration{0, 0}, "delays because of earlier requests")
			if b.answered(now.Add(pause-1)) || b.allows(0, now.Add(pause-1)) || !b.allows(0, now.Add(pause)) {
				t.Error("the pause is too short")
			}
			now = now.Add(pause)
			pause = b.failed(5, false, now)
			base = min(2*base, 20*time.Second)
		}
		if !b.answered(now.Add(pause)) || b.open || b.backoff != nil {
			t.Errorf("round %d: the answer does not close the circuit", round+1)
		}
		now = now.Add(pause)
	}
}
