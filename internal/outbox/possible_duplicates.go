package outbox

import (
	"errors"
	"math/rand/v2"
	"time"
)

// MaxPossibleDuplicates is how many requests with an unknown outcome may be made for a message
// before the dispatcher gives up on it. Telegram offers no way to check whether a message has
// arrived, so readers may see up to this many copies. Messages with the action Edit or Page are
// exempt.
const MaxPossibleDuplicates = 5

// isExhausted reports whether m has too many possible duplicates to be sent again. It returns false
// for the actions Edit and Page, because repeating them creates no duplicate.
func (m Message) isExhausted() bool { return m.exhaustedAfter(m.Row.PossibleDuplicates) }

func (m Message) exhaustedAfter(possibleDuplicates int) bool {
	return m.Action != Edit && m.Action != Page && possibleDuplicates >= MaxPossibleDuplicates
}

// ambiguousPauses holds the pauses after the first, second, … request with an unknown outcome,
// before jitter and for the default SendTimeout. A single lost answer is usually a blip. Several in
// a row mean a long outage, so the pauses grow steeply.
var ambiguousPauses = [...]time.Duration{time.Second, 10 * time.Second, 100 * time.Second, 15 * time.Minute}

const (
	// defaultTimeout is the default and the maximum of Settings.SendTimeout.
	defaultTimeout = 5 * time.Second
	// LongestRequest limits a request that may repeat another one, except for a callback answer. If
	// Settings.SendTimeout is shorter than defaultTimeout, the limit is shorter in proportion. The
	// limit exceeds defaultTimeout, because the messenger may be slow.
	LongestRequest = 8 * time.Second
)

var errTooManyPossibleDuplicates = errors.New("too many possible duplicates")

// ambiguousPause returns how long m waits after a request with an unknown outcome. It is 0 if that
// was the last request allowed for m.
func (m Message) ambiguousPause(sendTimeout time.Duration) time.Duration {
	if m.exhaustedAfter(m.Row.PossibleDuplicates + 1) {
		return 0
	}
	const jitter = backoffJitter / 100.0
	last := len(ambiguousPauses) - 1
	pause := ambiguousPauses[min(m.Row.PossibleDuplicates, last)].Seconds() * (1 - jitter + 2*jitter*rand.Float64())
	pause = min(pause, ambiguousPauses[last].Seconds())
	return time.Duration(pause / defaultTimeout.Seconds() * float64(sendTimeout))
}

// timeout returns how long a request for m may take: longer if it may repeat another one. A
// callback answer is useful only for seconds, so its timeout is always SendTimeout.
func (m Message) timeout(s Settings) time.Duration {
	if m.Lane.Kind == CallbackAnswers {
		return s.SendTimeout
	}
	return s.timeout(m.Row.PossibleDuplicates > 0)
}

func (s Settings) timeout(repeats bool) time.Duration {
	if repeats {
		return s.SendTimeout * (LongestRequest / time.Second) / (defaultTimeout / time.Second)
	}
	return s.SendTimeout
}
