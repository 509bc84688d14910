package chart

import (
	"cmp"
	"image"
	"slices"
	"strconv"
	"time"
)

// Distances in pixels.
const (
	margin       = 24
	gap          = 14  // between a text and what it belongs to
	lineHeight   = 42  // of a text
	capHeight    = 24  // of a capital letter
	maxLabel     = 270 // the width of a label
	lineWidth    = 6
	otherWidth   = 2
	otherColumns = 4 // grey lines are thinned to columns of so many pixels
	dotRadius    = 9
)

// plot is the part of a picture in which the lines are.
type plot struct {
	Chart
	*canvas
	extent
	area   image.Rectangle
	x, y   scale
	labels []string
}

func newPlot(c Chart, canvas *canvas, e extent) *plot {
	p := &plot{Chart: c, canvas: canvas, extent: e, labels: Labels(c)}
	widest := 0
	for i := range p.labels {
		p.labels[i] = shorten(p.labels[i], maxLabel)
		widest = max(widest, textWidth(p.labels[i]))
	}
	padding := max(float64(e.high-e.low)*0.06, 1)
	p.area = image.Rect(0, margin+lineHeight/2, Width-widest-margin-2*gap, Height-lineHeight-margin)
	p.y = newScale(float64(e.low)-padding, float64(e.high)+padding, minRange, p.area.Max.Y, p.area.Min.Y)
	for _, tick := range p.y.ticks(4) {
		p.area.Min.X = max(p.area.Min.X, margin+textWidth(strconv.Itoa(tick))+gap)
	}
	if c.ByMatch {
		p.x = newScale(float64(e.firstMatch), float64(e.lastMatch), 1, p.area.Min.X, p.area.Max.X)
	} else {
		p.x = newScale(seconds(e.from), seconds(e.to), 1, p.area.Min.X, p.area.Max.X)
	}
	return p
}

func (p *plot) draw() {
	p.drawRatingAxis()
	p.drawHorizontalAxis()
	for _, points := range p.Others {
		p.drawLine(p.columns(points, otherColumns), otherWidth, p.other)
	}
	p.drawSeasons()
	// The first line is the last to be drawn, above all others.
	for i, line := range slices.Backward(p.Highlighted) {
		p.drawLine(p.columns(line.Points, 1), lineWidth, p.lines[i])
	}
	p.drawBest()
	p.drawLabels()
}

// at returns the pixel of a point.
func (p *plot) at(point Point) image.Point {
	x := seconds(point.At)
	if p.ByMatch {
		x = float64(point.Match)
	}
	return image.Pt(p.x.at(x), p.y.at(float64(point.Elo)))
}

func (p *plot) drawRatingAxis() {
	for _, tick := range p.y.ticks(4) {
		if tick < 0 {
			continue
		}
		y, text := p.y.at(float64(tick)), strconv.Itoa(tick)
		p.horizontal(p.area.Min.X, p.area.Max.X, y, 2, p.grid)
		p.text(text, p.area.Min.X-gap-textWidth(text), y+capHeight/2, p.palette.text)
	}
}

func (p *plot) drawHorizontalAxis() {
	end := 0 // of the text before
	tick := func(x int, text string) {
		width := textWidth(text)
		left := min(max(x-width/2, margin), Width-margin-width)
		if left < end+2*gap {
			return
		}
		p.vertical(x, p.area.Max.Y, p.area.Max.Y+gap/2, 2, p.palette.text)
		p.text(text, left, p.area.Max.Y+lineHeight, p.palette.text)
		end = left + width
	}
	p.horizontal(p.area.Min.X, p.area.Max.X, p.area.Max.Y, 2, p.grid)
	if p.ByMatch {
		for _, number := range p.x.ticks(4) {
			tick(p.x.at(float64(number)), "#"+strconv.Itoa(number))
		}
		return
	}
	times, clock := timeTicks(p.from, p.to, 4)
	last := ""
	for _, t := range times {
		text := t.Format("15:04")
		if !clock {
			text = p.Date(t)
		}
		if text != last {
			tick(p.x.at(seconds(t)), text)
		}
		last = text
	}
}

// drawSeasons draws a dashed line where a season starts.
func (p *plot) drawSeasons() {
	for _, start := range p.Seasons {
		if !start.After(p.from) || start.After(p.to) {
			continue
		}
		x := p.x.at(seconds(start))
		if p.ByMatch {
			x = p.x.at(float64(p.firstMatchSince(start)) - 0.5)
		}
		for y := p.area.Min.Y; y < p.area.Max.Y; y += 20 {
			p.vertical(x, y, y+10, 2, p.season)
		}
	}
}

// firstMatchSince returns the number of the first match that was played at a time or later.
func (p *plot) firstMatchSince(start time.Time) int {
	first := p.lastMatch
	p.everyPoint(func(point Point) {
		if !point.At.Before(start) {
			first = min(first, point.Match)
		}
	})
	return first
}

// drawLine draws a line up to the end of the plot.
func (p *plot) drawLine(columns []column, width int, colour colour) {
	for i, c := range columns {
		end := p.area.Max.X
		if i+1 < len(columns) {
			next := columns[i+1]
			end = next.x
			p.vertical(end, min(c.last, next.last), max(c.last, next.last), width, colour)
		}
		p.vertical(c.x, c.top, c.bottom, width, colour)
		p.horizontal(c.x, end, c.last, width, colour)
	}
}

// drawBest marks the best rating of each highlighted line, with its number where there is room.
func (p *plot) drawBest() {
	var taken []image.Rectangle
	for i, line := range slices.Backward(p.Highlighted) {
		if len(line.Points) == 0 {
			continue
		}
		best := slices.MaxFunc(line.Points, func(a, b Point) int { return cmp.Compare(a.Elo, b.Elo) })
		at := p.at(best)
		p.dot(at, dotRadius, p.lines[i])
		taken = append(taken, image.Rectangle{at, at}.Inset(-dotRadius))
	}
	for i, line := range p.Highlighted {
		if len(line.Points) == 0 {
			continue
		}
		best := slices.MaxFunc(line.Points, func(a, b Point) int { return cmp.Compare(a.Elo, b.Elo) })
		at, text := p.at(best), strconv.Itoa(best.Elo)
		width := textWidth(text)
		left := min(max(at.X-width/2, p.area.Min.X), p.area.Max.X-width)
		box := image.Rect(left, at.Y-dotRadius-gap/2-capHeight, left+width, at.Y-dotRadius-gap/2)
		if slices.ContainsFunc(taken, box.Overlaps) {
			continue
		}
		taken = append(taken, box)
		p.outlined(text, box.Min.X, box.Max.Y, p.lines[i])
	}
}

// drawLabels writes the labels beside the ends of their lines.
func (p *plot) drawLabels() {
	type end struct{ line, y int }
	var ends []end
	for i, line := range p.Highlighted {
		if n := len(line.Points); n > 0 {
			ends = append(ends, end{i, p.at(line.Points[n-1]).Y})
		}
	}
	slices.SortStableFunc(ends, func(a, b end) int { return cmp.Compare(a.y, b.y) })
	var heights []int
	for _, e := range ends {
		heights = append(heights, e.y)
	}
	for i, y := range spread(heights, lineHeight, p.area.Min.Y, p.area.Max.Y) {
		line := ends[i].line
		p.text(p.labels[line], p.area.Max.X+2*gap, y+capHeight/2, p.lines[line])
	}
}
