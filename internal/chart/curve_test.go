package chart_test

import (
	"image"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/chart"
)

// TestCurve checks that a curve of several points is a staircase from the left edge of its box to
// the right edge, with marks at its beginning, its highest point and its end. A sparkline ignores
// the times of its points. A curve of one point begins in the middle.
func TestCurve(t *testing.T) {
	t.Parallel()
	day := func(n int) time.Time { return time.Date(2026, 3, n, 0, 0, 0, 0, time.UTC) }
	points := []chart.Point{{At: day(1), Elo: 1500}, {At: day(3), Match: 1, Elo: 1600}, {At: day(5), Match: 4, Elo: 1550}}
	box := image.Rect(10, 0, 110, 112)
	want := chart.Curve{
		Box: box, Path: "M10 106H60V6H110V56H110",
		Rating: []chart.Tick{{At: 106, Text: "1500"}, {At: 56, Text: "1550"}, {At: 6, Text: "1600"}},
		Time:   []chart.Tick{{At: 10, Text: "1"}, {At: 60, Text: "3"}, {At: 110, Text: "5"}},
		First:  chart.Mark{X: 10, Y: 106, Elo: 1500}, Best: chart.Mark{X: 60, Y: 6, Elo: 1600},
		Now: chart.Mark{X: 110, Y: 56, Elo: 1550},
	}
	got := chart.NewCurve(points, nil, box, func(at time.Time) string { return at.Format("2") })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	points[1].At = day(2)
	want.Time = nil
	if diff := cmp.Diff(want, chart.NewSparkline(points, box)); diff != "" {
		t.Errorf("as a sparkline (-want +got):\n%s", diff)
	}
	one := chart.NewCurve(points[:1], nil, box, func(at time.Time) string { return at.Format("2") })
	if one.Path != "M60 56H110" || one.Now != one.First {
		t.Errorf("of one point: %+v", one)
	}
}
