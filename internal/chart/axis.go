package chart

import (
	"math"
	"time"
)

// minRange is the smallest range of ratings that a picture shows, so that small changes look small.
const minRange = 60

// mostTicks is the maximum number of ticks on a time axis. An axis of numbers may have one more. A
// small picture has no room for more labels.
const mostTicks = 4

// extent is the range of values that the axes must cover.
type extent struct {
	from, to              time.Time
	firstMatch, lastMatch int
	low, high             int
}

// extentOf returns the extent of a chart. ok reports whether the chart has points.
func extentOf(c Chart) (e extent, ok bool) {
	c.everyPoint(func(p Point) {
		if !ok {
			e, ok = extent{p.At, p.At, p.Match, p.Match, p.Elo, p.Elo}, true
		}
		if p.At.Before(e.from) {
			e.from = p.At
		}
		if p.At.After(e.to) {
			e.to = p.At
		}
		e.firstMatch, e.lastMatch = min(e.firstMatch, p.Match), max(e.lastMatch, p.Match)
		e.low, e.high = min(e.low, p.Elo), max(e.high, p.Elo)
	})
	return e, ok
}

// scale maps the values of an axis to pixels.
type scale struct {
	min, max float64
	from, to int // the pixels of min and max
}

// newScale returns a scale for values from low to high, widened to a range of at least smallest.
// from and to are the pixels of the ends of the axis.
func newScale(low, high, smallest float64, from, to int) scale {
	if missing := smallest - (high - low); missing > 0 {
		low, high = low-missing/2, high+missing/2
	}
	return scale{min: low, max: high, from: from, to: to}
}

// at returns the pixel of a value. For a value beyond the axis, it returns the nearest end of the
// axis.
func (s scale) at(value float64) int {
	share := 0.5 // for values so large that a float64 cannot tell min from max
	if s.max > s.min {
		share = min(max((value-s.min)/(s.max-s.min), 0), 1)
	}
	return s.from + int(math.Round(share*float64(s.to-s.from)))
}

// ticks returns round whole numbers on the scale, none below least, and at most mostTicks+1.
func (s scale) ticks(least float64) []int {
	step := roundStep((s.max - s.min) / mostTicks)
	var ticks []int
	for v := math.Ceil(max(s.min, least)/step) * step; v <= s.max && len(ticks) <= mostTicks; v += step {
		ticks = append(ticks, int(v))
	}
	return ticks
}

// roundStep returns the smallest of 1, 2, 5, 10, 20, 50 … that is not below least.
func roundStep(least float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(max(least, 1))))
	for _, factor := range []float64{1, 2, 5} {
		if factor*power >= least {
			return factor * power
		}
	}
	return 10 * power
}

// seconds returns a time as seconds since 1970, for scaling.
func seconds(t time.Time) float64 { return float64(t.Unix()) + float64(t.Nanosecond())/1e9 }

// interval is the distance between two ticks of a time axis. Only one of its fields is set.
type interval struct {
	clock        time.Duration
	days, months int
}

// The intervals between ticks, shortest first. clockIntervals are for charts that span less than a
// day, but more than an instant.
var (
	clockIntervals = []interval{
		{clock: time.Minute}, {clock: 5 * time.Minute}, {clock: 15 * time.Minute}, {clock: 30 * time.Minute},
		{clock: time.Hour}, {clock: 2 * time.Hour}, {clock: 3 * time.Hour}, {clock: 6 * time.Hour},
	}
	dayIntervals = []interval{
		{days: 1}, {days: 2}, {days: 3}, {days: 7}, {days: 14}, {months: 1}, {months: 2}, {months: 3}, {months: 6},
		{months: 12}, {months: 24}, {months: 60}, {months: 120}, {months: 1200},
	}
)

// timeTicks returns two to mostTicks round times between from and to, or both ends if no interval
// yields that many. clock reports whether the ticks are times of day rather than days.
func timeTicks(from, to time.Time) (ticks []time.Time, clock bool) {
	clock = from.Before(to) && to.Sub(from) < 24*time.Hour
	intervals := dayIntervals
	if clock {
		intervals = clockIntervals
	}
	for _, i := range intervals {
		if ticks := i.between(from, to); len(ticks) >= 2 && len(ticks) <= mostTicks {
			return ticks, clock
		}
	}
	return []time.Time{from, to}, clock
}

// firstHour returns the beginning of a day: midnight, or 1:00 if clocks go forward at midnight.
func firstHour(year int, month time.Month, day int, zone *time.Location) time.Time {
	midnight := time.Date(year, month, day, 0, 0, 0, 0, zone)
	if midnight.Hour() == 0 {
		return midnight
	}
	return time.Date(year, month, day, 1, 0, 0, 0, zone)
}

// between returns the times between from and to that are multiples of the interval after the
// beginning of the first day, or the first mostTicks+1 of them. Intervals of months are counted
// from the beginning of the year 0.
func (i interval) between(from, to time.Time) []time.Time {
	year, month, day := from.Date()
	if i.months > 0 {
		months := year*12 + int(month) - 1
		year, month, day = 0, time.Month(months-months%i.months+1), 1
	}
	const mostBefore = 24 * 60 // multiples that can precede from: one for each minute of a day
	var ticks []time.Time
	for k := 0; k <= mostBefore+mostTicks && len(ticks) <= mostTicks; k++ {
		t := firstHour(year, month+time.Month(k*i.months), day+k*i.days, from.Location()).Add(time.Duration(k) * i.clock)
		if t.After(to) {
			break
		}
		if !t.Before(from) {
			ticks = append(ticks, t)
		}
	}
	return ticks
}
