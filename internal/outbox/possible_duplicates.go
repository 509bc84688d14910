package outbox

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// MaxPossibleDuplicates is how many requests with an unknown outcome may be made for a message before it is given up. Telegram
// cannot be asked whether a message has arrived, and people may have read it this often.
const MaxPossibleDuplicates = 5

// isExhausted reports whether the message is given up because of possible duplicates. Repeated edits create none.
func (m Message) isExhausted() bool { return m.exhaustedAfter(m.Row.PossibleDuplicates) }

func (m Message) exhaustedAfter(possibleDuplicates int) bool {
	return m.Action != Edit && m.Action != Page && possibleDuplicates >= MaxPossibleDuplicates
}

// The pauses after requests with an unknown outcome grow tenfold each time, from a fifth of SendTimeout to 180 times SendTimeout:
// from 1 s to 15 min with the default. A single lost answer is usually a blip; several in a row mean a long
// disturbance, so back off steeply.
const (
	firstAmbiguousPause = defaultTimeout / 5
	maxAmbiguousPause   = 180 * defaultTimeout
)

// maxTimeoutFactor is the longest request timeout in multiples of SendTimeout.
const maxTimeoutFactor = 6

const defaultTimeout = 5 * time.Second

// LongestRequest is the longest possible request timeout.
const LongestRequest = maxTimeoutFactor * defaultTimeout

var errTooManyPossibleDuplicates = errors.New("too many possible duplicates")

// ambiguousPause returns how long a message waits after a request with an unknown outcome; 0 if the message is given up
// now.
func (m Message) ambiguousPause(sendTimeout time.Duration) time.Duration {
	if m.exhaustedAfter(m.Row.PossibleDuplicates + 1) {
		return 0
	}
	pause := firstAmbiguousPause
	for range m.Row.PossibleDuplicates {
		pause = min(10*pause, maxAmbiguousPause)
	}
	const jitter = backoffJitter / 100.0
	pause = min(time.Duration(float64(pause)*(1-jitter+2*jitter*rand.Float64())), maxAmbiguousPause)
	return time.Duration(float64(pause) * sendTimeout.Seconds() / defaultTimeout.Seconds())
}

// claimTimeout returns the timeout for a request of the lane. After an unknown outcome, allow the next request more time.
// Only one request at a time gets more, because it occupies a send slot and its chat for so long; slowLane records which.
func (t *term) claimTimeout(l *lane, m Message) time.Duration {
	if m.Row.PossibleDuplicates > 0 && l.Kind != CallbackAnswers && t.slowLane == nil {
		t.slowLane = l
	}
	timeout := t.settings.SendTimeout
	if t.slowLane != l || m.isExhausted() {
		return timeout
	}
	// the inner min only prevents an overflow
	return timeout * time.Duration(min(1<<min(m.Row.PossibleDuplicates, maxTimeoutFactor), maxTimeoutFactor))
}

// cancelBeforeLeaseEnds cancels a request that is still in flight when the lease is about to end because nobody renews
// it.
func (t *term) cancelBeforeLeaseEnds(request context.Context, cancel func()) {
	for left := t.usableLease(); left > 0; left = t.usableLease() {
		timer := time.NewTimer(left)
		select {
		case <-timer.C:
		case <-request.Done():
			timer.Stop()
			return
		}
	}
	cancel()
}
