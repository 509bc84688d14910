package chart

import (
	"cmp"
	"image"
	"slices"
	"strconv"
)

// Distances in pixels.
const (
	margin       = 24  // around the picture
	gap          = 14  // between a text and what it labels
	lineHeight   = 46  // of a text
	capHeight    = 27  // of a capital letter
	maxLabel     = 290 // the maximum width of a label
	lineWidth    = 6   // of a highlighted line
	otherWidth   = 4   // of a gray line
	crowdWidth   = 2   // of a gray line among more than crowd
	crowd        = 40  // not a distance but a number of gray lines
	casing       = 3   // around a highlighted line, in the background color
	otherColumns = 4   // gray lines are thinned to columns this wide
	dotRadius    = 11
)

// plot is the part of a picture that contains the lines.
type plot struct {
	Chart
	*canvas
	extent
	area   image.Rectangle
	x, y   scale
	ends   []int // the x coordinates where seasons end; the last is the right edge of the plot
	labels []Label
	traces []trace // of the highlighted lines, in their order
}

func newPlot(c Chart, canvas *canvas, e extent) *plot {
	var names []string
	for _, line := range c.Highlighted {
		names = append(names, line.Name)
	}
	labels, widest := Labels(names), 0
	for _, label := range labels {
		widest = max(widest, textWidth(label.Text))
	}
	p := newAxes(c, e, image.Rect(0, margin+lineHeight/2, Width-widest-margin-2*gap, Height-lineHeight-margin))
	p.canvas, p.labels = canvas, labels
	for _, tick := range p.y.ticks(0) {
		p.area.Min.X = max(p.area.Min.X, margin+textWidth(strconv.Itoa(tick))+gap)
	}
	p.setHorizontal(p.area.Min.X + dotRadius)
	for _, line := range c.Highlighted {
		p.traces = append(p.traces, p.thin(nil, line.Points, 1))
	}
	return p
}

// newAxes returns a plot without its horizontal axis, which may depend on the vertical axis.
func newAxes(c Chart, e extent, area image.Rectangle) *plot {
	p := &plot{Chart: c, extent: e, area: area}
	padding := max(float64(e.high-e.low)*0.06, 1)
	p.y = newScale(float64(e.low)-padding, float64(e.high)+padding, minRange, area.Max.Y, area.Min.Y)
	return p
}

// setHorizontal sets p.ends, and p.x, the scale of the horizontal axis, which reaches from the
// given left pixel to the right edge of p.area.
func (p *plot) setHorizontal(left int) {
	first, last := seconds(p.from), seconds(p.to)
	if p.ByMatch {
		first, last = float64(p.firstMatch), float64(p.lastMatch)
	}
	p.x = newScale(first, last, 1, left, p.area.Max.X)
	for _, s := range p.Seasons {
		p.ends = append(p.ends, p.at(Point{At: s.Starts, Match: s.Match - 1}).X)
	}
	p.ends = append(p.ends, p.area.Max.X)
}

func (p *plot) draw() {
	p.drawRatingAxis()
	p.drawHorizontalAxis()
	p.drawSeasons()
	p.drawOthers()
	for _, trace := range p.traces {
		p.drawTrace(trace, lineWidth+2*casing, p.ground)
	}
	// The first line is drawn last, on top of all others.
	for i, trace := range slices.Backward(p.traces) {
		p.drawTrace(trace, lineWidth, p.lines[i])
	}
	p.drawBest()
	p.drawLabels()
}

func (p *plot) at(point Point) image.Point {
	x := seconds(point.At)
	if p.ByMatch {
		x = float64(point.Match)
	}
	return image.Pt(p.x.at(x), p.y.at(float64(point.Elo)))
}

func (p *plot) drawRatingAxis() {
	for _, tick := range p.y.ticks(0) {
		y, text := p.y.at(float64(tick)), strconv.Itoa(tick)
		p.fill(horizontal(p.area.Min.X, p.area.Max.X, y, 2), p.grid)
		p.text(text, p.area.Min.X-gap-textWidth(text), y+capHeight/2, p.palette.text)
	}
}

func (p *plot) drawHorizontalAxis() {
	end := 0 // the end of the previous text
	tick := func(x int, text string) {
		width := textWidth(text)
		left := min(max(x-width/2, margin), Width-margin-width)
		if left < end+2*gap {
			return
		}
		p.fill(vertical(x, p.area.Max.Y, p.area.Max.Y+gap/2, 2), p.palette.text)
		p.text(text, left, p.area.Max.Y+lineHeight, p.palette.text)
		end = left + width
	}
	p.fill(horizontal(p.area.Min.X, p.area.Max.X, p.area.Max.Y, 2), p.grid)
	if p.ByMatch {
		for _, number := range p.x.ticks(1) { // leaves out 0, the number before the first match
			tick(p.x.at(float64(number)), "#"+strconv.Itoa(number))
		}
		return
	}
	for _, t := range p.times() {
		tick(t.At, t.Text)
	}
}

// times returns the ticks of a time axis, without repeated texts.
func (p *plot) times() (ticks []Tick) {
	times, clock := timeTicks(p.from, p.to)
	for _, t := range times {
		text := t.Format("15:04")
		if !clock {
			text = p.Date(t)
		}
		if n := len(ticks); n == 0 || ticks[n-1].Text != text {
			ticks = append(ticks, Tick{p.x.at(seconds(t)), text})
		}
	}
	return ticks
}

// drawSeasons marks where seasons begin, with labels above if there is room.
func (p *plot) drawSeasons() {
	end := 0 // the end of the previous label
	for i, s := range p.Seasons {
		x, width := p.ends[i], textWidth(s.Label)
		p.fill(vertical(x, p.area.Min.Y, p.area.Max.Y, 2), p.palette.text)
		if left := min(max(x-width/2, margin), Width-margin-width); left >= end {
			p.text(s.Label, left, p.area.Min.Y-gap, p.palette.text)
			end = left + width + gap
		}
	}
}

func (p *plot) drawOthers() {
	width := otherWidth
	if len(p.Others) > crowd {
		width = crowdWidth
	}
	var t trace
	for _, points := range p.Others {
		t = p.thin(t[:0], points, otherColumns)
		p.drawTrace(t, width, p.other)
	}
}

func (p *plot) drawTrace(t trace, width int, color *image.Uniform) {
	for stroke := range t.strokes(width) {
		p.fill(stroke, color)
	}
}

// drawBest marks the best rating of each highlighted line, and writes it above the mark if there is
// room.
func (p *plot) drawBest() {
	best, taken := make([]Point, len(p.Highlighted)), make([]image.Rectangle, len(p.Highlighted))
	for i, line := range slices.Backward(p.Highlighted) {
		if len(line.Points) == 0 {
			continue
		}
		best[i] = slices.MaxFunc(line.Points, func(a, b Point) int { return cmp.Compare(a.Elo, b.Elo) })
		at := p.at(best[i])
		p.disc(at, dotRadius, p.lines[i])
		p.disc(at, dotRadius/2, p.ground)
		taken[i] = image.Rectangle{at, at}.Inset(-dotRadius)
	}
	for i, line := range p.Highlighted {
		if len(line.Points) == 0 {
			continue
		}
		text := strconv.Itoa(best[i].Elo)
		if box, ok := p.roomAbove(taken[i], textWidth(text), taken); ok {
			taken = append(taken, box)
			p.outlined(text, box.Min.X, box.Max.Y, p.lines[i])
		}
	}
}

// roomAbove returns a box above a dot for a text of this width. The box overlaps neither a
// highlighted line nor a taken box. roomAbove tries three places, and returns false if none is
// free.
func (p *plot) roomAbove(dot image.Rectangle, width int, taken []image.Rectangle) (image.Rectangle, bool) {
	bottom := dot.Min.Y - gap/2
	for _, left := range []int{dot.Min.X + (dot.Dx()-width)/2, dot.Min.X, dot.Max.X - width} {
		left = min(max(left, p.area.Min.X), p.area.Max.X-width)
		box := image.Rect(left, bottom-capHeight, left+width, bottom)
		if !slices.ContainsFunc(taken, box.Overlaps) && !p.crossed(box) {
			return box, true
		}
	}
	return image.Rectangle{}, false
}

// crossed reports whether a highlighted line runs through a box.
func (p *plot) crossed(box image.Rectangle) bool {
	for _, trace := range p.traces {
		for stroke := range trace.strokes(lineWidth) {
			if stroke.Overlaps(box) {
				return true
			}
		}
	}
	return false
}

// drawLabels writes the labels beside the plot, at the last heights of their lines, or links them
// to those heights if they had to move.
func (p *plot) drawLabels() {
	type end struct{ line, y int }
	var ends []end
	for i, trace := range p.traces {
		if n := len(trace); n > 0 {
			ends = append(ends, end{i, trace[n-1].last})
		}
	}
	slices.SortStableFunc(ends, func(a, b end) int { return cmp.Compare(a.y, b.y) })
	heights := make([]int, len(ends))
	for i, e := range ends {
		heights[i] = e.y
	}
	for i, y := range spread(heights, lineHeight, p.area.Min.Y, p.area.Max.Y) {
		line, from, to := ends[i].line, image.Pt(p.area.Max.X, ends[i].y), image.Pt(p.area.Max.X+2*gap, y)
		if y != from.Y {
			p.link(from, to.Sub(image.Pt(gap/2, 0)), p.lines[line])
		}
		p.text(p.labels[line].Text, to.X, y+capHeight/2, p.lines[line])
	}
}
