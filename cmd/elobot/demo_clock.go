package main

import (
	"sync/atomic"
	"time"
)

const (
	// evening is the time of day, in UTC, at which people play on the earlier days of the scene.
	evening = 19 * time.Hour
	// pause is how long the members wait before they ask how they did.
	pause = 3 * time.Minute
)

// demoClock is the clock of the simulated Telegram. The zero value shows the real time.
type demoClock struct {
	ahead  time.Duration // how far the end of the scene is ahead of the real time
	behind atomic.Int64  // nanoseconds left until the end of the scene
}

func (c *demoClock) now() time.Time { return c.end().Add(-time.Duration(c.behind.Load())) }

// end returns the time that the clock would show if the scene ended now.
func (c *demoClock) end() time.Time { return time.Now().Add(c.ahead) }

// begin sets the clock to the evening of the day that is daysAgo days before the end of the scene.
// If daysAgo is 0, it sets the clock to one pause before the end of the scene.
func (c *demoClock) begin(daysAgo int) {
	behind := pause
	if end := c.end(); daysAgo > 0 {
		behind = end.Sub(end.UTC().Truncate(24*time.Hour).AddDate(0, 0, -daysAgo).Add(evening))
	}
	c.behind.Store(int64(behind))
}

func (c *demoClock) pause() { c.behind.Add(-int64(pause)) }

func (c *demoClock) finish() { c.behind.Store(0) }
