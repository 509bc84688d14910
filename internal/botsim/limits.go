package botsim

import (
	"math"
	"time"
)

// Limits are how much a bot may send, edits included. A window with N 0 limits nothing.
type Limits struct {
	Chat    Window // in any one chat
	Group   Window // in any one group, besides Chat
	Overall Window // by the bot as a whole
}

// Window allows N sends in every span of time of that length.
type Window struct {
	N   int
	Per time.Duration
}

// TelegramLimits are those that Telegram names: about one message a second in a chat, of which short bursts
// pass, 20 a minute in a group, 30 a second over all.
func TelegramLimits() Limits {
	return Limits{
		Chat:    Window{N: 5, Per: 5 * time.Second},
		Group:   Window{N: 20, Per: time.Minute},
		Overall: Window{N: 30, Per: time.Second},
	}
}

// limiter judges sends against the limits. The server's lock guards it.
type limiter struct {
	limits  Limits
	overall sliding
}

// chatRates is what a chat remembers for the limiter.
type chatRates struct{ chat, group sliding }

// take counts a send, or refuses it. What is refused does not count.
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

// sliding remembers the last N sends, oldest at next.
type sliding struct {
	times []time.Time
	next  int
}

// wait is how long a send has to wait to be allowed.
func (g *sliding) wait(now time.Time, w Window) time.Duration {
	if w.N == 0 || len(g.times) < w.N {
		return 0
	}
	return max(w.Per-now.Sub(g.times[g.next]), 0)
}

func (g *sliding) add(now time.Time, w Window) {
	switch {
	case w.N == 0:
	case len(g.times) < w.N:
		g.times = append(g.times, now)
	default:
		g.times[g.next] = now
		g.next = (g.next + 1) % w.N
	}
}
