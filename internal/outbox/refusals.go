package outbox

import (
	"cmp"
	"regexp"
	"time"
)

// outageLimit is how long a refusal that is the same in several chats may be taken for an outage.
const outageLimit = 10 * time.Minute

var digits = regexp.MustCompile(`\d+`)

// refusals tells whether refusals for an unknown reason are an outage of the messenger, or the
// fault of what is refused. They are an outage if the same one comes in several chats and nothing
// is accepted after it.
type refusals struct {
	acceptedAt time.Time // when the last request that was accepted began
	// of what came after it
	chats map[string]map[ChatID]bool // where a refusal came, by the messenger's words without numbers
	since time.Time                  // when one had come in enough chats
}

// accepted notes a request that the messenger accepted.
func (r *refusals) accepted(begun time.Time) {
	*r = refusals{acceptedAt: latest(r.acceptedAt, begun), chats: make(map[string]map[ChatID]bool)}
}

// unsettled reports whether the last refusal of a lane may be an outage, because nothing was
// accepted after it.
func (r *refusals) unsettled(l *lane) bool {
	return !l.refusedAt.IsZero() && !r.acceptedAt.After(l.refusedAt)
}

// isOutage notes that the first item of a lane was refused in these words, and reports whether that
// is an outage.
func (r *refusals) isOutage(l *lane, words string, now time.Time) bool {
	if !r.unsettled(l) {
		return false
	}
	words = digits.ReplaceAllString(words, "")
	if r.chats[words] == nil {
		r.chats[words] = make(map[ChatID]bool)
	}
	if r.chats[words][l.Chat] = true; len(r.chats[words]) < outageChats {
		return false
	}
	r.since = cmp.Or(r.since, now)
	return now.Sub(r.since) < outageLimit
}
