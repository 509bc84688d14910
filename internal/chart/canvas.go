package chart

import (
	"image"
	"image/color"
	"image/draw"
	"math"

	"github.com/go-analyze/charts/chartdraw/drawing"
)

// unitsPerEm is the resolution at which the library's font sizes are pixels.
const unitsPerEm = 64

// palette has the colours of a picture.
type palette struct {
	ground, grid, text, season, other color.RGBA
	lines                             [MaxHighlighted]color.RGBA
}

// The colours of the lines are those of Okabe and Ito, which people with any colour vision can tell apart.
var (
	light = palette{
		ground: rgb(0xffffff), grid: rgb(0xe4e4e4), text: rgb(0x555555), season: rgb(0x888888), other: rgb(0xcfcfcf),
		lines: [MaxHighlighted]color.RGBA{rgb(0x0072b2), rgb(0xd55e00), rgb(0x009e73), rgb(0xcc79a7)},
	}
	dark = palette{
		ground: rgb(0x17212b), grid: rgb(0x2b3743), text: rgb(0xb4bec8), season: rgb(0x7f8b97), other: rgb(0x4a5662),
		lines: [MaxHighlighted]color.RGBA{rgb(0x56b4e9), rgb(0xe69f00), rgb(0x009e73), rgb(0xcc79a7)},
	}
)

func rgb(hex uint32) color.RGBA {
	return color.RGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 0xff}
}

// canvas is a picture that is being drawn. err is the first error of its texts.
type canvas struct {
	palette
	image   *image.RGBA
	context *drawing.RasterGraphicContext
	err     error
}

func newCanvas(isDark bool) *canvas {
	c := &canvas{palette: light, image: image.NewRGBA(image.Rect(0, 0, Width, Height))}
	if isDark {
		c.palette = dark
	}
	c.context = drawing.NewRasterGraphicContext(c.image)
	c.context.SetDPI(unitsPerEm)
	c.context.SetFont(font())
	c.context.SetFontSize(fontSize)
	c.fill(c.image.Bounds(), c.ground)
	return c
}

// fill fills a rectangle.
func (c *canvas) fill(r image.Rectangle, colour color.RGBA) {
	draw.Draw(c.image, r, image.NewUniform(colour), image.Point{}, draw.Src)
}

// horizontal and vertical draw a straight stroke of a width, with square ends.
func (c *canvas) horizontal(x0, x1, y, width int, colour color.RGBA) {
	c.fill(image.Rect(x0, y, x1, y).Inset(-width/2), colour)
}

func (c *canvas) vertical(x, y0, y1, width int, colour color.RGBA) {
	c.fill(image.Rect(x, y0, x, y1).Inset(-width/2), colour)
}

// dot draws a disc with a rim in the colour of the ground.
func (c *canvas) dot(at image.Point, radius int, colour color.RGBA) {
	for _, disc := range []struct {
		radius float64
		colour color.RGBA
	}{{float64(radius + 3), c.ground}, {float64(radius), colour}} {
		c.context.SetFillColor(disc.colour)
		c.context.MoveTo(float64(at.X)+disc.radius, float64(at.Y))
		c.context.ArcTo(float64(at.X), float64(at.Y), disc.radius, disc.radius, 0, 2*math.Pi)
		c.context.Fill()
	}
}

// text writes a text that starts at x on a baseline.
func (c *canvas) text(text string, x, baseline int, colour color.RGBA) {
	c.context.SetFillColor(colour)
	c.path(text, x, baseline)
	c.context.Fill()
}

// outlined writes a text with an outline in the colour of the ground, for places where lines run.
func (c *canvas) outlined(text string, x, baseline int, colour color.RGBA) {
	c.context.SetStrokeColor(c.ground)
	c.context.SetLineWidth(10)
	c.path(text, x, baseline)
	c.context.Stroke()
	c.text(text, x, baseline, colour)
}

func (c *canvas) path(text string, x, baseline int) {
	if _, err := c.context.CreateStringPath(text, float64(x), float64(baseline)); err != nil && c.err == nil {
		c.err = err
	}
}
