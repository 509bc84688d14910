package chart

import (
	"cmp"
	"fmt"
	"image"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Curve is one line of ratings as a vector picture: where its parts are, without their looks.
type Curve struct {
	Box              image.Rectangle // of the line and its axes
	Path             string          // the line, as SVG writes it
	Rating, Time     []Tick          // on the vertical and the horizontal axis
	Seasons          []Tick          // where seasons begin, on the horizontal axis
	First, Best, Now Mark
}

// Tick is a place on an axis.
type Tick struct {
	At   int
	Text string
}

// Mark is a rating and where it is.
type Mark struct {
	X, Y, Elo int
}

// leastLabel is the distance between the beginnings of two seasons that leaves room for the label of the first.
const leastLabel = 80

// NewCurve returns the curve of points, oldest first, in a box, along an axis of times. date writes a day, in the location of the points.
// There must be a point. The seasons are those that begin after the first one.
func NewCurve(points []Point, seasons []Season, box image.Rectangle, date func(time.Time) string) Curve {
	line := Chart{Highlighted: []Line{{Points: points}}, Seasons: seasons}
	c := curveOf(line, box)
	e, _ := extentOf(line)
	times, clock := timeTicks(e.from, e.to)
	x := newScale(seconds(e.from), seconds(e.to), 1, box.Min.X, box.Max.X)
	for _, t := range times {
		text := t.Format("15:04")
		if !clock {
			text = date(t)
		}
		if n := len(c.Time); n == 0 || c.Time[n-1].Text != text {
			c.Time = append(c.Time, Tick{x.at(seconds(t)), text})
		}
	}
	return c
}

// NewSparkline returns the curve of points in a box, along an axis on which they are equally far from each other.
func NewSparkline(points []Point, box image.Rectangle) Curve {
	numbered := slices.Clone(points)
	for i := range numbered {
		numbered[i].Match = i
	}
	return curveOf(Chart{Highlighted: []Line{{Points: numbered}}, ByMatch: true}, box)
}

// curveOf returns the curve of the highlighted line of a chart.
func curveOf(c Chart, box image.Rectangle) Curve {
	e, _ := extentOf(c)
	p := plot{Chart: c, extent: e, area: box}
	padding := max(float64(e.high-e.low)*0.06, 1)
	p.y = newScale(float64(e.low)-padding, float64(e.high)+padding, minRange, box.Max.Y, box.Min.Y)
	p.x = newScale(seconds(e.from), seconds(e.to), 1, box.Min.X, box.Max.X)
	if c.ByMatch {
		p.x = newScale(float64(e.firstMatch), float64(e.lastMatch), 1, box.Min.X, box.Max.X)
	}
	points := c.Highlighted[0].Points
	curve := Curve{Box: box}
	for _, s := range c.Seasons {
		at := p.at(Point{At: s.Starts, Match: s.Match - 1}).X
		tick := Tick{at, s.Label}
		if n := len(curve.Seasons); n > 0 && at-curve.Seasons[n-1].At < leastLabel {
			tick.Text = ""
		}
		p.ends, curve.Seasons = append(p.ends, at), append(curve.Seasons, tick)
	}
	p.ends = append(p.ends, box.Max.X)
	for _, tick := range p.y.ticks(0) {
		curve.Rating = append(curve.Rating, Tick{p.y.at(float64(tick)), strconv.Itoa(tick)})
	}
	mark := func(of Point) Mark {
		at := p.at(of)
		return Mark{at.X, at.Y, of.Elo}
	}
	curve.First, curve.Now = mark(points[0]), mark(points[len(points)-1])
	curve.Best = mark(slices.MaxFunc(points, func(a, b Point) int { return cmp.Compare(a.Elo, b.Elo) }))
	var path strings.Builder
	end := 0
	for _, col := range p.thin(nil, points, 1) {
		switch {
		case end == 0:
			fmt.Fprintf(&path, "M%d %d", col.x, curve.First.Y)
		case end != col.end:
			fmt.Fprintf(&path, "H%dM%d %d", end, col.x, col.top)
		default:
			fmt.Fprintf(&path, "H%d", col.x)
		}
		if col.top != col.last && col.bottom != col.last {
			fmt.Fprintf(&path, "V%dV%d", col.top, col.bottom)
		}
		if end != 0 || col.last != curve.First.Y {
			fmt.Fprintf(&path, "V%d", col.last)
		}
		end = col.end
	}
	fmt.Fprintf(&path, "H%d", end)
	curve.Path = path.String()
	return curve
}
