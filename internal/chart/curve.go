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

// Curve is one line of ratings as a vector picture: the positions of its parts, without styling.
type Curve struct {
	Box              image.Rectangle // of the line and its axes
	Path             string          // the line as an SVG path
	Rating, Time     []Tick          // the vertical and the horizontal axis
	Seasons          []Tick          // where seasons begin, on the horizontal axis
	First, Best, Now Mark
}

// Tick is a position on an axis, with its label, which may be empty.
type Tick struct {
	At   int
	Text string
}

// Mark is a rating and its position.
type Mark struct {
	X, Y, Elo int
}

// leastLabel is the minimum distance in pixels between the beginnings of two seasons for the later
// season to get a label.
const leastLabel = 80

// NewCurve returns the curve of points, oldest first, in a box, along a time axis. date formats a
// day, in the location of the points. There must be at least one point, and seasons must begin
// after the first point.
func NewCurve(points []Point, seasons []Season, box image.Rectangle, date func(time.Time) string) Curve {
	c, p := curveOf(Chart{Highlighted: []Line{{Points: points}}, Seasons: seasons, Date: date}, box)
	c.Time = p.times()
	return c
}

// NewSparkline returns the curve of points, oldest first, in a box. Neighboring points are equally
// far apart on the horizontal axis, which has no ticks. There must be at least one point.
func NewSparkline(points []Point, box image.Rectangle) Curve {
	numbered := slices.Clone(points)
	for i := range numbered {
		numbered[i].Match = i
	}
	c, _ := curveOf(Chart{Highlighted: []Line{{Points: numbered}}, ByMatch: true}, box)
	return c
}

// curveOf returns the curve of the highlighted line of a chart, without the ticks of its horizontal
// axis, and the plot that has the axes.
func curveOf(c Chart, box image.Rectangle) (Curve, *plot) {
	e, _ := extentOf(c)
	p := newAxes(c, e, box)
	p.setHorizontal(box.Min.X)
	points := c.Highlighted[0].Points
	curve := Curve{Box: box}
	for i, s := range c.Seasons {
		tick := Tick{p.ends[i], s.Label}
		if i > 0 && tick.At-p.ends[i-1] < leastLabel {
			tick.Text = ""
		}
		curve.Seasons = append(curve.Seasons, tick)
	}
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
	return curve, p
}
