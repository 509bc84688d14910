package outbox

import (
	"slices"
	"time"

	"github.com/sethvargo/go-retry"
)

// The messenger does not say whether a single chat or the whole bot has exceeded a limit. If
// several chats are rate limited at about the same time, the breaker assumes that the whole bot has
// exceeded a limit.
const (
	// limitedChats is how many chats must be rate limited within limitedWithin to open the circuit.
	limitedChats  = 3
	limitedWithin = 5 * time.Second
	// maxLimitedPause caps the pause of the breaker after rate limits.
	maxLimitedPause = 60 * time.Second
)

// outageChats is how many chats must have a request fail as Unreachable, Ambiguous or Unauthorized
// to open the circuit. Any outcome other than these and RateLimited starts the count over. If this
// many chats are refused in the same words, the refusals count as an outage, which also opens the
// circuit.
const outageChats = 3

// breaker is a circuit breaker that pauses all lanes except those of callback answers. When the
// pause is over, one lane probes the messenger with a request. A rate limit, or another failure of
// the kinds that open the circuit, prolongs the pause. Any other outcome closes the circuit, and
// the other lanes follow.
type breaker struct {
	open    bool
	until   time.Time     // earliest time of the next probe
	backoff retry.Backoff // yields the pauses of an outage; nil before the first pause

	limits []limit // recent rate limits, at most one for each chat
	// failing holds the chats that count toward outageChats.
	failing map[ChatID]struct{}
}

type limit struct {
	chat  ChatID
	at    time.Time
	pause time.Duration
}

// rateLimited records that the messenger rate limited a chat for the given pause. It returns how
// long the lanes pause as a result, or 0 if they do not.
func (b *breaker) rateLimited(chat ChatID, pause time.Duration, now time.Time) time.Duration {
	if b.open && now.Before(b.until) {
		return 0 // the request began before the circuit opened; it is ignored
	}
	isPast := func(l limit) bool { return l.chat == chat || now.Sub(l.at) > limitedWithin }
	b.limits = append(slices.DeleteFunc(b.limits, isPast), limit{chat, now, pause})
	if !b.open && len(b.limits) < limitedChats {
		return 0
	}
	shortest := maxLimitedPause
	for _, l := range b.limits {
		shortest = min(shortest, l.pause)
	}
	b.trip(now.Add(shortest))
	return shortest
}

// failed records that a request failed as Unreachable, Ambiguous or Unauthorized. If outage is set,
// this failure opens the circuit even if only one chat has failed. It returns how long the lanes
// pause as a result, or 0 if they do not.
func (b *breaker) failed(chat ChatID, outage bool, now time.Time) time.Duration {
	if b.open && now.Before(b.until) {
		return 0 // the request began before the circuit opened
	}
	if b.failing == nil {
		b.failing = make(map[ChatID]struct{})
	}
	b.failing[chat] = struct{}{}
	if !b.open && !outage && len(b.failing) < outageChats {
		return 0
	}
	pause := nextPause(&b.backoff)
	b.trip(now.Add(pause))
	return pause
}

// answered records an outcome of a request other than those that rateLimited and failed record. It
// reports whether this outcome closes an open circuit.
func (b *breaker) answered(now time.Time) bool {
	switch {
	case !b.open:
		clear(b.failing)
		return false
	case now.Before(b.until):
		return false // the request began before the circuit opened
	default:
		*b = breaker{}
		return true
	}
}

// allows reports whether another request may start while inFlight others are in flight.
func (b *breaker) allows(inFlight int, now time.Time) bool {
	return !b.open || inFlight == 0 && !now.Before(b.until)
}

func (b *breaker) trip(until time.Time) {
	*b = breaker{open: true, until: until, backoff: b.backoff}
}
