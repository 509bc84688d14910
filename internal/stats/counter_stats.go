package stats

import (
	"context"
	"time"
)

// surveyInterval is how often the counter measures what is to be counted.
const surveyInterval = 10 * time.Second

// TallySurvey describes what is to be counted.
type TallySurvey struct {
	Marks      int     `json:"waiting_marks"`           // at most MaxSurveyed, like Recounting
	OldestMark float64 `json:"oldest_mark_age_seconds"` // how many seconds ago the oldest mark was added
	Recounting int     `json:"recounting_ladders"`      // ladders that are being recounted
}

// MaxSurveyed is how far a survey counts.
const MaxSurveyed = 100_000

// CounterStats are the measurements of a counter.
type CounterStats struct {
	TallySurvey       // the last one; empty while the counter does not run
	Failures    int64 `json:"counting_failures"` // times that it failed to catch up, since the start of the process
}

// Stats returns the current measurements.
func (c *Counter) Stats() CounterStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stats
}

func (c *Counter) surveyed(s TallySurvey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stats.TallySurvey = s
}

func (c *Counter) failed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stats.Failures++
}

// survey measures at intervals what is to be counted.
func (c *Counter) survey(ctx context.Context) {
	tick := time.NewTicker(surveyInterval)
	defer tick.Stop()
	failing := false
	for {
		s, err := limited(ctx, c.store.Survey)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !failing:
			c.log.WarnContext(ctx, "failed to measure what is to be counted for questions, retrying", "error", err)
		case err == nil:
			c.surveyed(s)
		}
		failing = err != nil
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
