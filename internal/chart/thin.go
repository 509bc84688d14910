package chart

import "image/color"

type colour = color.RGBA

// column is what a line does within one column of pixels.
type column struct {
	x           int
	top, bottom int // the highest and the lowest pixel
	last        int // the height at which the line goes on
}

// columns thins points to columns of the given width. Of each column it keeps the highest, the lowest and the last
// point; the first is between them.
func (p *plot) columns(points []Point, width int) []column {
	var out []column
	for _, point := range points {
		at := p.at(point)
		x := at.X - (at.X-p.area.Min.X)%width
		if n := len(out); n > 0 && x <= out[n-1].x {
			c := &out[n-1]
			c.top, c.bottom, c.last = min(c.top, at.Y), max(c.bottom, at.Y), at.Y
			continue
		}
		out = append(out, column{x: x, top: at.Y, bottom: at.Y, last: at.Y})
	}
	return out
}
