package chart

import (
	"image"
	"iter"
)

// trace is a line prepared for drawing.
type trace []column

// column is the part of a line in one column of the picture, which may be several pixels wide.
type column struct {
	x           int
	top, bottom int // the highest and the lowest pixel
	last        int // the height at which the line continues
	end         int // the pixel at which the line must end: the next season, or the end of the plot
}

// thin appends points to columns of the given width in pixels. Of each column, it keeps the
// highest, the lowest and the last point, which suffice to draw the line.
func (p *plot) thin(columns trace, points []Point, width int) trace {
	season := 0
	for _, point := range points {
		for season < len(p.Seasons) && !point.At.Before(p.Seasons[season].Starts) {
			season++
		}
		at, end := p.at(point), p.ends[season]
		// By its number, a match recorded late may lie beyond the end of its season.
		at.X = min(at.X, end)
		x := at.X - (at.X-p.area.Min.X)%width
		if n := len(columns); n > 0 && x <= columns[n-1].x && columns[n-1].end == end {
			c := &columns[n-1]
			c.top, c.bottom, c.last = min(c.top, at.Y), max(c.bottom, at.Y), at.Y
			continue
		}
		columns = append(columns, column{x: x, top: at.Y, bottom: at.Y, last: at.Y, end: end})
	}
	return columns
}

// strokes returns the rectangles of a line. Within a season they do not overlap, unless columns are
// closer together than the width.
func (t trace) strokes(width int) iter.Seq[image.Rectangle] {
	return func(yield func(image.Rectangle) bool) {
		for i, col := range t {
			top, bottom, next := col.top, col.bottom, col.end
			if i > 0 && t[i-1].end == col.end {
				top, bottom = min(top, t[i-1].last), max(bottom, t[i-1].last)
			}
			if i+1 < len(t) && t[i+1].end == col.end {
				next = t[i+1].x - width/2
			}
			if !yield(vertical(col.x, top, bottom, width)) || !yield(horizontal(col.x+width/2, next, col.last, width)) {
				return
			}
		}
	}
}
