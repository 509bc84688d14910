package ranking

import (
	"maps"
	"sync"
	"time"
)

// rivals are the chats in which somebody else, who is another instance, was faster lately. Whoever expects to lose there
// does better to wait for the group than to find out at the end.
type rivals struct {
	mu   sync.Mutex
	last map[ExternalChatID]time.Time
}

const (
	rivalFor  = time.Second
	maxRivals = 1000
)

// seen takes note of a conflict in a chat.
func (r *rivals) seen(chat ExternalChatID, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last == nil || len(r.last) >= maxRivals {
		last := maps.Clone(r.last)
		maps.DeleteFunc(last, func(_ ExternalChatID, at time.Time) bool { return now.Sub(at) > rivalFor })
		if last == nil || len(last) >= maxRivals { // so many at once that forgetting them costs nobody anything
			last = make(map[ExternalChatID]time.Time)
		}
		r.last = last
	}
	r.last[chat] = now
}

// about tells whether there was a conflict in the chat a moment ago.
func (r *rivals) about(chat ExternalChatID, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, ok := r.last[chat]
	return ok && now.Sub(at) <= rivalFor
}
