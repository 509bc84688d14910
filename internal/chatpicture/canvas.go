package chatpicture

import (
	"image"
	"image/color"
	"image/draw"
	"math"

	xdraw "golang.org/x/image/draw"
	"golang.org/x/image/vector"
)

// scale is how many pixels of the picture make one pixel of the screen. Everything else is measured in those of the screen.
const scale = 2

// canvas is the picture that is being drawn.
type canvas struct {
	image  *image.RGBA
	digits face // of medals
}

func newCanvas(width, height float64, digits face) canvas {
	return canvas{image.NewRGBA(image.Rect(0, 0, int(math.Ceil(width*scale)), int(math.Ceil(height*scale)))), digits}
}

// rect is a rectangle.
type rect struct{ x, y, width, height float64 }

// point is a point of a shape.
type point struct{ x, y float64 }

// gradient fills the picture with a colour that changes from the top to the bottom.
func (c canvas) gradient(top, bottom color.RGBA) {
	bounds := c.image.Bounds()
	for y := range bounds.Dy() {
		mix := func(a, b uint8) uint8 { return uint8((int(a)*(bounds.Dy()-y) + int(b)*y) / bounds.Dy()) } //nolint:gosec // between two bytes
		row := color.RGBA{mix(top.R, bottom.R), mix(top.G, bottom.G), mix(top.B, bottom.B), 0xff}
		draw.Draw(c.image, image.Rect(0, y, bounds.Dx(), y+1), image.NewUniform(row), image.Point{}, draw.Src)
	}
}

// fill fills a shape with a colour. The shape is inside of the rectangle.
func (c canvas) fill(within rect, with image.Image, shape func(*pen)) {
	bounds := image.Rect(
		int(math.Floor(within.x*scale)), int(math.Floor(within.y*scale)),
		int(math.Ceil((within.x+within.width)*scale)), int(math.Ceil((within.y+within.height)*scale)))
	p := &pen{vector.NewRasterizer(bounds.Dx(), bounds.Dy()), bounds.Min}
	shape(p)
	p.ClosePath()
	p.Draw(c.image, bounds, with, bounds.Min)
}

// box fills a rectangle.
func (c canvas) box(r rect, colour color.Color) { c.rounded(r, 0, colour) }

// rounded fills a rectangle with rounded corners.
func (c canvas) rounded(r rect, radius float64, colour color.Color) {
	c.fill(r, image.NewUniform(colour), func(p *pen) { p.rounded(r, radius) })
}

// circle fills a circle.
func (c canvas) circle(x, y, radius float64, colour color.Color) {
	c.rounded(rect{x - radius, y - radius, 2 * radius, 2 * radius}, radius, colour)
}

// polygon fills a polygon.
func (c canvas) polygon(colour color.Color, corners ...point) {
	within := rect{corners[0].x, corners[0].y, 0, 0}
	for _, q := range corners {
		right, bottom := max(within.x+within.width, q.x), max(within.y+within.height, q.y)
		within.x, within.y = min(within.x, q.x), min(within.y, q.y)
		within.width, within.height = right-within.x, bottom-within.y
	}
	c.fill(within, image.NewUniform(colour), func(p *pen) {
		p.move(corners[0])
		for _, q := range corners[1:] {
			p.line(q)
		}
	})
}

// photo draws a photo into a rectangle with rounded corners.
func (c canvas) photo(r rect, radius float64, photo image.Image) {
	bounds := image.Rect(int(r.x*scale), int(r.y*scale), int((r.x+r.width)*scale), int((r.y+r.height)*scale))
	scaled := image.NewRGBA(bounds)
	xdraw.CatmullRom.Scale(scaled, bounds, photo, photo.Bounds(), draw.Src, nil)
	c.fill(r, scaled, func(p *pen) { p.rounded(r, radius) })
}

// pen draws the outline of a shape.
type pen struct {
	*vector.Rasterizer
	origin image.Point
}

func (p *pen) at(q point) (x, y float32) {
	return float32(q.x*scale - float64(p.origin.X)), float32(q.y*scale - float64(p.origin.Y))
}

func (p *pen) move(to point) {
	x, y := p.at(to)
	p.MoveTo(x, y)
}

func (p *pen) line(to point) {
	x, y := p.at(to)
	p.LineTo(x, y)
}

// corner draws a quarter of a circle whose tangents meet in a corner.
func (p *pen) corner(from, corner, to point) {
	const share = 0.5523 // of the way to the corner, where the control points of a circle are
	near := func(q point) point { return point{q.x + (corner.x-q.x)*share, q.y + (corner.y-q.y)*share} }
	ax, ay := p.at(near(from))
	bx, by := p.at(near(to))
	x, y := p.at(to)
	p.line(from)
	p.CubeTo(ax, ay, bx, by, x, y)
}

func (p *pen) rounded(r rect, radius float64) {
	left, top, right, bottom := r.x, r.y, r.x+r.width, r.y+r.height
	p.move(point{left + radius, top})
	p.corner(point{right - radius, top}, point{right, top}, point{right, top + radius})
	p.corner(point{right, bottom - radius}, point{right, bottom}, point{right - radius, bottom})
	p.corner(point{left + radius, bottom}, point{left, bottom}, point{left, bottom - radius})
	p.corner(point{left, top + radius}, point{left, top}, point{left + radius, top})
}
