// Package chart draws ratings over time as a picture. It knows neither databases nor Telegram.
//
// A rating holds until the next match, so a line is a staircase: level while nothing changes, upright at a match. All lines end where the
// picture or their season ends.
package chart

import (
	"bytes"
	"errors"
	"fmt"
	"image/png"
	"time"
)

// MaxHighlighted is the number of lines that can be told apart by their colors.
const MaxHighlighted = 4

// The size of a picture in pixels: 640×400 at double scale.
const (
	Width  = 1280
	Height = 800
)

// Point is a rating after a match.
type Point struct {
	At    time.Time
	Match int // the number of the match in its group
	Elo   int
}

// Line has the ratings of a player, oldest first.
type Line struct {
	Name   string
	Points []Point
}

// Season is a season that begins after the first point of a chart. Its points are those from Starts on.
type Season struct {
	Starts time.Time
	Match  int // the number of its first match
	Label  string
}

// Chart is what a picture shows.
type Chart struct {
	Highlighted []Line    // at most MaxHighlighted; the first has the first color
	Others      [][]Point // thin gray lines
	Seasons     []Season  // that begin in the picture, in their order; each has a mark, where all lines end and begin anew
	ByMatch     bool      // the horizontal axis counts matches instead of days
	Dark        bool      // light lines on a dark ground
	// Date writes a day below the horizontal axis, in the location of the points: with the year where they span more than one. Only a chart
	// by match needs none.
	Date func(time.Time) string
}

// Draw returns the picture as PNG.
func Draw(c Chart) ([]byte, error) {
	if len(c.Highlighted) > MaxHighlighted {
		return nil, errors.New("draw chart: too many highlighted lines")
	}
	canvas := newCanvas(c.Dark)
	if extent, ok := extentOf(c); ok {
		newPlot(c, canvas, extent).draw()
	}
	if canvas.err != nil {
		return nil, fmt.Errorf("draw chart: %w", canvas.err)
	}
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := encoder.Encode(&out, canvas.indexed()); err != nil {
		return nil, fmt.Errorf("draw chart: %w", err)
	}
	return out.Bytes(), nil
}

// everyPoint calls f with each point of a chart.
func (c Chart) everyPoint(f func(Point)) {
	for _, line := range c.Highlighted {
		for _, p := range line.Points {
			f(p)
		}
	}
	for _, points := range c.Others {
		for _, p := range points {
			f(p)
		}
	}
}
