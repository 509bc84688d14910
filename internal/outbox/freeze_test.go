package outbox

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// rateLimitedUntil returns a function that rate limits the requests to each chat, with the given
// RetryAfter, until the chat's duration has passed, and then succeeds. The durations begin when
// rateLimitedUntil is called.
func rateLimitedUntil(until map[ChatID]time.Duration, retryAfter time.Duration) func(context.Context, Message) error {
	begun := time.Now()
	return func(_ context.Context, m Message) error {
		if time.Since(begun) < until[m.Lane.Chat] {
			return rateLimited(retryAfter)
		}
		return nil
	}
}

// TestOneLaneProbes checks that, once three chats are rate limited, about one request follows each
// pause. After the first success, all lanes send.
func TestOneLaneProbes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const chats, retryAfter = 100, 7 * time.Second
		until := make(map[ChatID]time.Duration)
		for c := ChatID(1); c <= chats; c++ {
			until[c] = time.Minute
		}
		store, sender := newMemory(), newMessenger(t, rateLimitedUntil(until, retryAfter))
		for c := ChatID(1); c <= chats; c++ {
			store.add(c)
		}
		dispatch(t, store, sender, Settings{Parallel: 4})
		advance(t, 3*time.Minute)
		equal(t, store.count(rowSent), chats, "items sent")
		// Four requests begin at first, and two more before the third answer has been processed.
		// Then there is a probe about every seven seconds, and one request for each chat after the
		// circuit closes.
		if n := len(sender.all()); n < chats+4+7 || n > chats+6+9 {
			t.Errorf("%d requests for %d messages", n, chats)
		}
	})
}

func TestBreakerRateLimited(t *testing.T) {
	t.Parallel()
	start := time.Now()
	at := func(s float64) time.Time { return start.Add(time.Duration(s * float64(time.Second))) }
	type step struct {
		chat  ChatID
		at    float64
		pause time.Duration
		want  time.Duration
	}
	for name, steps := range map[string][]step{
		"the shortest of three":           {{1, 0, 30 * time.Second, 0}, {2, 1, 9 * time.Second, 0}, {3, 2, 20 * time.Second, 9 * time.Second}},
		"at most a minute":                {{1, 0, time.Hour, 0}, {2, 0, time.Hour, 0}, {3, 0, time.Hour, time.Minute}},
		"one chat counts once":            {{1, 0, time.Second, 0}, {1, 1, time.Second, 0}, {2, 2, time.Second, 0}, {1, 2, time.Second, 0}},
		"only within five seconds":        {{1, 0, time.Second, 0}, {2, 4, time.Second, 0}, {3, 5.1, time.Second, 0}, {4, 5.2, time.Second, time.Second}},
		"requests in flight do not count": {{1, 0, 9 * time.Second, 0}, {2, 0, 9 * time.Second, 0}, {3, 0, 9 * time.Second, 9 * time.Second}, {4, 1, time.Hour, 0}},
		"the probe is rate limited":       {{1, 0, time.Second, 0}, {2, 0, time.Second, 0}, {3, 0, time.Second, time.Second}, {4, 2, 5 * time.Second, 5 * time.Second}},
	} {
		var b breaker
		for i, s := range steps {
			equal(t, b.rateLimited(s.chat, s.pause, at(s.at)), s.want, "%s: freeze of step %d", name, i+1)
		}
	}

	b := breaker{open: true, until: at(10)}
	ended := []bool{b.answered(at(9))}
	allowed := []bool{b.allows(0, at(9)), b.allows(0, at(10)), b.allows(1, at(10))}
	ended = append(ended, b.answered(at(10)), b.answered(at(10)))
	allowed = append(allowed, b.allows(31, at(10)))
	equal(t, allowed, []bool{false, true, false, true}, "allowed")
	equal(t, ended, []bool{false, true, false}, "ended")
}
