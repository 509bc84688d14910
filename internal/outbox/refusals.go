package outbox

import (
	"cmp"
	"regexp"
	"time"
)

// outageLimit is the longest time for which the same refusal in several chats counts as an outage.
const outageLimit = 10 * time.Minute

var digits = regexp.MustCompile(`\d+`)

// refusals decides whether refusals for an unknown reason are an outage of the messenger or the
// fault of the refused items. Refusals are an outage, for at most outageLimit, if outageChats chats
// are refused in the same words, apart from digits, and nothing is accepted meanwhile.
type refusals struct {
	acceptedAt time.Time // when the last accepted request began
	// The fields below cover the time since acceptedAt.
	chats map[string]map[ChatID]bool // refused chats, by the words of the refusal without digits
	since time.Time                  // when outageChats chats first had the same refusal; zero: not yet
}

func (r *refusals) accepted(begun time.Time) {
	*r = refusals{acceptedAt: latest(r.acceptedAt, begun), chats: make(map[string]map[ChatID]bool)}
}

// unsettled reports whether the item last refused in a lane may be the victim of an outage. It
// returns false once a request that began after the item's first refusal was accepted, because that
// rules out an outage.
func (r *refusals) unsettled(l *lane) bool {
	return !l.refusedAt.IsZero() && !r.acceptedAt.After(l.refusedAt)
}

// isOutage reports whether the refusal of a lane's first item in these words counts as an outage.
// It records the refusal, unless a request that began after the item's first refusal has been
// accepted.
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
