// Package chart draws ratings over time as a picture. It knows nothing about databases or Telegram.
//
// A rating holds until the next match, so a line is a staircase: level while nothing changes,
// vertical at a match. After the last match of a season, a line continues to the end of the season
// or of the picture.
package chart

import (
	"bytes"
	"errors"
	"fmt"
	"image/png"
	"time"
)

// MaxHighlighted is the maximum number of highlighted lines, each of which has its own color.
const MaxHighlighted = 4

// The size of a picture in pixels: 640×400 at double scale.
const (
	Width  = 1280
	Height = 800
)

// Point is a rating on a line: after a match, or before the first match of the line or of a season.
type Point struct {
	At    time.Time
	Match int // the match's number in its group; one less for a rating before the match
	Elo   int
}

// Line has a player's ratings, oldest first.
type Line struct {
	Name   string
	Points []Point
}

// Season is a season that begins after the first point of a chart. Points from Starts on belong to
// this season, or to a later one.
type Season struct {
	Starts time.Time
	Match  int // the number of its first match
	Label  string
}

// Chart is the content of a picture.
type Chart struct {
	Highlighted []Line    // at most MaxHighlighted; the first has the first color
	Others      [][]Point // drawn as thin gray lines
	// Seasons lists the seasons that begin in the picture, in order. A mark shows where a season
	// begins. All lines are interrupted there.
	Seasons []Season
	ByMatch bool // the horizontal axis counts matches, not days
	Dark    bool // light lines on a dark background
	// Date formats a day below the horizontal axis, in the location of the points. The text should
	// include the year if the points span many months. Date may be nil only if ByMatch is set or
	// there are no points.
	Date func(time.Time) string
}

// Draw returns the picture as PNG. The picture is blank if the chart has no points. Draw fails if
// more than MaxHighlighted lines are highlighted, or if a text cannot be drawn.
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
