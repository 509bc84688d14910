package outbox

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// MaxCopies is how many requests may be made for a message of which each has perhaps delivered it. Then it ends: Telegram
// cannot be asked whether a message has arrived, and people have perhaps read it so often.
const MaxCopies = 5

// isUsedUp tells whether a message ends because of its copies. Repeating an edit makes none.
func (m Message) isUsedUp() bool { return m.copiesEnd(m.Row.PossibleDuplicates) }

func (m Message) copiesEnd(perhapsSent int) bool { return m.Action != Edit && perhapsSent >= MaxCopies }

// The pauses after requests whose outcome is unknown grow tenfold, from a fifth of SendTimeout to 180 times that: from 1 s to
// 15 min with the default. A single lost answer is usually a blip; several in a row mean a long disturbance, so back off
// steeply.
const (
	firstUnknown = usualTimeout / 5
	maxUnknown   = 180 * usualTimeout
)

// maxLonger is how many times SendTimeout a request may take at the most.
const maxLonger = 6

const usualTimeout = 5 * time.Second

// LongestRequest is how long a request may take at the most.
const LongestRequest = maxLonger * usualTimeout

var errCopies = errors.New("it has perhaps been delivered too often already")

// unknownPause returns how long a message waits after a request whose outcome is unknown, where a request usually may take so
// long: nothing if it ends now.
func (m Message) unknownPause(sendTimeout time.Duration) time.Duration {
	if m.copiesEnd(m.Row.PossibleDuplicates + 1) {
		return 0
	}
	pause := firstUnknown
	for range m.Row.PossibleDuplicates {
		pause = min(10*pause, maxUnknown)
	}
	const jitter = backoffJitter / 100.0
	pause = min(time.Duration(float64(pause)*(1-jitter+2*jitter*rand.Float64())), maxUnknown)
	return time.Duration(float64(pause) * sendTimeout.Seconds() / usualTimeout.Seconds())
}

// timeout returns how long the request for a message of the lane may take. If the last request timed out, allow the next one
// more time. Only one request at a time gets more: each keeps its place, and its chat, for so long.
func (t *term) timeout(l *lane, m Message) time.Duration {
	if m.Row.PossibleDuplicates > 0 && !l.CallbackAnswers && t.long == nil {
		t.long = l
	}
	timeout := t.settings.SendTimeout
	if t.long != l || m.isUsedUp() {
		return timeout
	}
	return timeout * time.Duration(min(1<<min(m.Row.PossibleDuplicates, maxLonger), maxLonger))
}

// endBeforeLease cuts a request off that is still under way when the lease, which nobody renews, is about to end.
func (t *term) endBeforeLease(request context.Context, cut func()) {
	for left := t.spare(); left > 0; left = t.spare() {
		timer := time.NewTimer(left)
		select {
		case <-timer.C:
		case <-request.Done():
			timer.Stop()
			return
		}
	}
	cut()
}
