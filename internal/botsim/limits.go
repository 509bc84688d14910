package botsim

import (
	"math"
	"time"
)

// Limits are the rate limits for the messages and edits of a bot.
type Limits struct {
	Chat    Window // for each chat
	Group   Window // for each group, in addition to Chat
	Overall Window // for all chats together
}

// Window allows N sends in any period of length Per. If N is 0, it allows any number.
type Window struct {
	N   int
	Per time.Duration
}

// TelegramLimits returns the limits that Telegram documents: 20 messages per minute in a group, 30
// per second in total, and about one per second in a chat. Short bursts are allowed in a chat, so
// its limit is five in five seconds.
func TelegramLimits() Limits {
	return Limits{
		Chat:    Window{N: 5, Per: 5 * time.Second},
		Group:   Window{N: 20, Per: time.Minute},
		Overall: Window{N: 30, Per: time.Second},
	}
}

// limiter enforces the limits. The server's lock guards it.
type limiter struct {
	limits  Limits
	overall slidingWindow
}

// chatRates holds the recent sends to one chat.
type chatRates struct{ chat, group slidingWindow }

// take counts a send, or refuses it with a 429. A refused send does not count.
func (l *limiter) take(now time.Time, c *Chat) error {
	wait := max(l.overall.wait(now, l.limits.Overall), c.rates.chat.wait(now, l.limits.Chat))
	if c.kind != kindPrivate {
		wait = max(wait, c.rates.group.wait(now, l.limits.Group))
	}
	if wait > 0 {
		return tooManyRequests(max(int(math.Ceil(wait.Seconds())), 1))
	}
	l.overall.add(now, l.limits.Overall)
	c.rates.chat.add(now, l.limits.Chat)
	c.rates.group.add(now, l.limits.Group)
	return nil
}

// slidingWindow is a ring of the times of the last N sends, the oldest at next.
type slidingWindow struct {
	times []time.Time
	next  int
}

// wait returns how long the next send has to wait, 0 if it is allowed now.
func (g *slidingWindow) wait(now time.Time, w Window) time.Duration {
	if w.N == 0 || len(g.times) < w.N {
		return 0
	}
	return max(w.Per-now.Sub(g.times[g.next]), 0)
}

func (g *slidingWindow) add(now time.Time, w Window) {
	switch {
	case w.N == 0:
	case len(g.times) < w.N:
		g.times = append(g.times, now)
	default:
		g.times[g.next] = now
		g.next = (g.next + 1) % w.N
	}
}
