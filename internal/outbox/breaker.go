package outbox

import (
	"time"

	"github.com/sethvargo/go-retry"
)

// The messenger does not say whether it is one chat that has asked for too much, or the bot as a whole. Several chats
// that are told to wait at about the same time mean the whole.
const (
	freezeChats  = 3                // so many chats …
	freezeWithin = 5 * time.Second  // … within this time
	maxFreeze    = 60 * time.Second // and the lanes stand still for this time at most
)

// When most of the last requests have failed on their way, it is not about their chats.
const (
	outageLanes  = 3                // at least so many lanes …
	outageWithin = 30 * time.Second // … within this time
	outageMemory = 32               // of so many requests
)

// gate is what makes all lanes stand still. When its time is over, one lane probes whether the messenger takes requests
// again; the others follow when it does.
type breaker struct {
	probing bool
	until   time.Time
	backoff retry.Backoff // of an outage

	limits   []limit               // those of the last moments, at most one for each chat
	outcomes [outageMemory]outcome // of the last requests
	next     int                   // where the next outcome goes
}

// limit says that a chat was told to wait.
type limit struct {
	chat  ChatID
	at    time.Time
	pause time.Duration
}

// outcome says whether a request has failed on its way.
type outcome struct {
	chat   ChatID
	at     time.Time
	failed bool
}

// limited takes note of a chat that is told to wait, and returns for how long all lanes stand still because of it, or 0.
func (g *breaker) limited(chat ChatID, pause time.Duration, now time.Time) time.Duration {
	if g.probing && now.Before(g.until) {
		return 0 // a request from before they stood still
	}
	recent := g.limits[:0]
	for _, l := range g.limits {
		if l.chat != chat && now.Sub(l.at) <= freezeWithin {
			recent = append(recent, l)
		}
	}
	g.limits = append(recent, limit{chat, now, pause})
	if !g.probing && len(g.limits) < freezeChats {
		return 0
	}
	shortest := maxFreeze
	for _, l := range g.limits {
		shortest = min(shortest, l.pause)
	}
	g.close(now.Add(shortest))
	return shortest
}

// failed takes note of a request that has failed on its way, and returns for how long all lanes stand still because of
// it, or 0.
func (g *breaker) failed(chat ChatID, now time.Time) time.Duration {
	if g.probing && now.Before(g.until) {
		return 0 // a request from before they stood still
	}
	g.note(outcome{chat, now, true})
	if !g.probing && !g.mostFail(now) {
		return 0
	}
	if g.backoff == nil {
		g.backoff = newBackoff()
	}
	pause, _ := g.backoff.Next() // it never says stop
	g.close(now.Add(pause))
	return pause
}

// passed takes note of a request that the messenger has answered, and says whether that has ended a standstill.
func (g *breaker) passed(chat ChatID, now time.Time) bool {
	if g.probing && !now.Before(g.until) {
		*g = breaker{}
		return true
	}
	if !g.probing {
		g.note(outcome{chat, now, false})
	}
	return false
}

// allows tells whether one more request may begin while so many are under way.
func (g *breaker) allows(underWay int, now time.Time) bool {
	return !g.probing || underWay == 0 && !now.Before(g.until)
}

func (g *breaker) close(until time.Time) {
	*g = breaker{probing: true, until: until, backoff: g.backoff}
}

func (g *breaker) note(o outcome) {
	g.outcomes[g.next] = o
	g.next = (g.next + 1) % outageMemory
}

// mostFail tells whether the last request of more chats has failed lately than was answered.
func (g *breaker) mostFail(now time.Time) bool {
	last := make(map[ChatID]bool)
	for i := range g.outcomes { // oldest first
		if o := g.outcomes[(g.next+i)%outageMemory]; !o.at.IsZero() && now.Sub(o.at) <= outageWithin {
			last[o.chat] = o.failed
		}
	}
	failed := 0
	for _, f := range last {
		if f {
			failed++
		}
	}
	return failed >= outageLanes && 2*failed > len(last)
}
