package outbox

import "time"

// The messenger does not say whether it is one chat that has asked for too much, or the bot as a whole. Several chats
// that are told to wait at about the same time mean the whole.
const (
	freezeChats  = 3                // so many chats …
	freezeWithin = 5 * time.Second  // … within this time
	maxFreeze    = 60 * time.Second // and the lanes stand still for this time at most
)

// freeze is what makes all lanes stand still. When its time is over, one lane probes whether the messenger takes
// requests again; the others follow when it does.
type freeze struct {
	limits  []limit // those of the last moments, at most one for each chat
	until   time.Time
	probing bool
}

// limit says that a chat was told to wait.
type limit struct {
	chat  ChatID
	at    time.Time
	pause time.Duration
}

// limited takes note of a chat that is told to wait, and returns for how long all lanes stand still because of it, or 0.
func (f *freeze) limited(chat ChatID, pause time.Duration, now time.Time) time.Duration {
	if f.probing && now.Before(f.until) {
		return 0 // a request from before they stood still
	}
	recent := f.limits[:0]
	for _, l := range f.limits {
		if l.chat != chat && now.Sub(l.at) <= freezeWithin {
			recent = append(recent, l)
		}
	}
	f.limits = append(recent, limit{chat, now, pause})
	if !f.probing && len(f.limits) < freezeChats {
		return 0
	}
	shortest := maxFreeze
	for _, l := range f.limits {
		shortest = min(shortest, l.pause)
	}
	f.limits, f.probing, f.until = nil, true, now.Add(shortest)
	return shortest
}

// passed takes note of a request that the messenger has not turned away.
func (f *freeze) passed(now time.Time) {
	if f.probing && !now.Before(f.until) {
		f.probing = false
	}
}

// allows tells whether one more step may begin while so many are under way.
func (f *freeze) allows(running int, now time.Time) bool {
	return !f.probing || running == 0 && !now.Before(f.until)
}
