package chart

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"elobot/internal/rapidtest"
)

func TestMain(m *testing.M) {
	rapidtest.Same(100)
	m.Run()
}

// drawPoints generates points in the order of their times. Many of them share a column of pixels.
func drawPoints(t *rapid.T) []Point {
	points := make([]Point, rapid.IntRange(1, 300).Draw(t, "points"))
	at := time.Unix(rapid.Int64Range(0, 2e9).Draw(t, "start"), 0).UTC()
	for i := range points {
		at = at.Add(time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "pause")))
		points[i] = Point{At: at, Match: i + 1, Elo: rapid.IntRange(0, 10_000).Draw(t, "elo")}
	}
	return points
}

// TestThinning checks that each column keeps its highest, lowest and last point, and no others. No
// column has points of two seasons. The picture shows the line at every point.
func TestThinning(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		points, width := drawPoints(t), rapid.IntRange(1, otherColumns).Draw(t, "width")
		c := Chart{Highlighted: []Line{{Name: "Ann", Points: points}}, ByMatch: rapid.Bool().Draw(t, "by match")}
		begins := rapid.IntRange(0, len(points)-1).Draw(t, "first of a season")
		if begins > 0 && points[begins].At.After(points[begins-1].At) {
			c.Seasons = []Season{{Starts: points[begins].At, Match: begins + 1, Label: "2"}}
		}
		extent, _ := extentOf(c)
		p := newPlot(c, newCanvas(false), extent)
		var want trace
		for i, point := range points {
			at, end := p.at(point), p.area.Max.X
			if c.Seasons != nil && i < begins {
				end = p.at(Point{At: points[begins].At, Match: begins}).X
			}
			if i == 0 || at.X >= want[len(want)-1].x+width || want[len(want)-1].end != end {
				left := p.area.Min.X + (at.X-p.area.Min.X)/width*width
				want = append(want, column{x: left, top: at.Y, bottom: at.Y, end: end})
			}
			c := &want[len(want)-1]
			c.top, c.bottom, c.last = min(c.top, at.Y), max(c.bottom, at.Y), at.Y
		}
		if got := p.thin(nil, points, width); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		checkDrawn(t, p, points)
	})
}

// checkDrawn checks that the picture of a single line has the line's color at every point and at
// the end of the plot.
func checkDrawn(t *rapid.T, p *plot, points []Point) {
	p.drawTrace(p.traces[0], lineWidth, p.lines[0])
	for _, point := range points {
		at := p.at(point)
		if got := p.image.RGBAAt(at.X, at.Y); got != p.lines[0].C {
			t.Fatalf("%v is not drawn at %v: it has the color %v", point, at, got)
		}
	}
	last := p.at(points[len(points)-1])
	if got := p.image.RGBAAt(p.area.Max.X-1, last.Y); got != p.lines[0].C {
		t.Fatalf("the line does not go on to the end: it has the color %v", got)
	}
}
