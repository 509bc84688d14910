package outbox

import (
	"cmp"
	"regexp"
	"time"
)

// outageLimit is how long a refusal that is the same in several chats may be taken for an outage.
const outageLimit = 10 * time.Minute

var digits = regexp.MustCompile(`\d+`)

// refusals tells whether refusals for an unknown reason are an outage of the messenger, or the fault of what is refused. They
// are an outage if the same one comes in several chats and nothing is accepted after it.
type refusals struct {
	acceptedAt time.Time           // when the last request that was accepted began
	known      map[string]*refusal // what was refused since then, by the messenger's words without numbers
}

type refusal struct {
	chats map[ChatID]bool // where it came
	since time.Time       // when it came in enough chats
}

// accepted notes a request that the messenger accepted.
func (r *refusals) accepted(begun time.Time) {
	r.acceptedAt = begun
	clear(r.known)
}

// unsettled reports whether the last refusal of a lane may be an outage, because nothing was accepted after it.
func (r *refusals) unsettled(l *lane) bool {
	return !l.refusedAt.IsZero() && !r.acceptedAt.After(l.refusedAt)
}

// isOutage notes that the first item of a lane was refused in these words, and reports whether that is an outage.
func (r *refusals) isOutage(l *lane, words string, now time.Time) bool {
	if !r.unsettled(l) {
		return false
	}
	words = digits.ReplaceAllString(words, "")
	known := cmp.Or(r.known[words], &refusal{chats: make(map[ChatID]bool)})
	r.known[words] = known
	if known.chats[l.Chat] = true; len(known.chats) < outageChats {
		return false
	}
	known.since = cmp.Or(known.since, now)
	return now.Sub(known.since) < outageLimit
}
