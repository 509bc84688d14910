package chart

import (
	"image"
	"image/color"
	"image/draw"
	"math"

	"github.com/go-analyze/charts/chartdraw/drawing"
)

// unitsPerEm is the resolution in DPI at which the library interprets font sizes as pixels.
const unitsPerEm = 64

// palette has the colors of a picture.
type palette struct {
	ground, grid, text, other *image.Uniform
	lines                     [MaxHighlighted]*image.Uniform
}

// palettes returns the colors for a light and for a dark background. Most line colors are in the
// Okabe-Ito palette or close to it, because people with color blindness can tell its colors apart.
// Where many gray lines overlap, they become darker on the light background, and lighter on the
// dark one.
func palettes() (light, dark palette) {
	return palette{
			ground: opaque(0xffffff), grid: opaque(0xe4e4e4), text: opaque(0x666666),
			other: image.NewUniform(color.NRGBA{R: 0xac, G: 0xac, B: 0xac, A: 0x98}),
			lines: [MaxHighlighted]*image.Uniform{opaque(0x0060a8), opaque(0xd55e00), opaque(0x009e73), opaque(0x222222)},
		}, palette{
			ground: opaque(0x17212b), grid: opaque(0x2b3743), text: opaque(0x95a1ad),
			other: image.NewUniform(color.NRGBA{R: 0x68, G: 0x74, B: 0x80, A: 0x98}),
			lines: [MaxHighlighted]*image.Uniform{opaque(0x56b4e9), opaque(0xe69f00), opaque(0x009e73), opaque(0xf5f5f5)},
		}
}

func opaque(hex uint32) *image.Uniform {
	return image.NewUniform(color.RGBA{
		R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 0xff, //nolint:gosec // bytes
	})
}

// shades is the number of steps between the background and a color, for the edges of texts and for
// overlapping gray lines.
const shades = 40

// all returns the colors of a paletted picture, at most 256.
func (p palette) all() color.Palette {
	all := color.Palette{p.ground.C, p.grid.C}
	ground := color.NRGBAModel.Convert(p.ground).(color.NRGBA)
	for _, c := range append(p.lines[:], p.text, p.other) {
		full := color.NRGBAModel.Convert(c.C).(color.NRGBA)
		for i := 1; i <= shades; i++ {
			mix := func(a, b uint8) uint8 {
				return uint8((int(a)*(shades-i) + int(b)*i) / shades) //nolint:gosec // between two bytes
			}
			all = append(all, color.RGBA{mix(ground.R, full.R), mix(ground.G, full.G), mix(ground.B, full.B), 0xff})
		}
	}
	return all
}

// canvas is a picture in progress. err is the first error in drawing texts.
type canvas struct {
	palette
	image   *image.RGBA
	context *drawing.RasterGraphicContext
	err     error
}

func newCanvas(isDark bool) *canvas {
	light, dark := palettes()
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

func (c *canvas) fill(r image.Rectangle, color *image.Uniform) {
	draw.Draw(c.image, r, color, image.Point{}, draw.Over)
}

// horizontal returns the rectangle of a stroke that ends exactly at x0 and x1.
func horizontal(x0, x1, y, width int) image.Rectangle {
	return image.Rectangle{Min: image.Pt(x0, y-width/2), Max: image.Pt(x1, y+width/2)}
}

// vertical returns the rectangle of a stroke that extends beyond y0 and y1 by half its width.
func vertical(x, y0, y1, width int) image.Rectangle {
	return image.Rect(x, y0, x, y1).Inset(-width / 2)
}

func (c *canvas) disc(at image.Point, radius int, color *image.Uniform) {
	x, y, r := float64(at.X), float64(at.Y), float64(radius)
	c.context.SetFillColor(color)
	c.context.MoveTo(x+r, y)
	c.context.ArcTo(x, y, r, r, 0, 2*math.Pi)
	c.context.Fill()
}

// link draws a thin stroke between two points.
func (c *canvas) link(from, to image.Point, color *image.Uniform) {
	c.context.SetStrokeColor(color)
	c.context.SetLineWidth(2)
	c.context.MoveTo(float64(from.X), float64(from.Y))
	c.context.LineTo(float64(to.X), float64(to.Y))
	c.context.Stroke()
}

// text writes a text that starts at x on a baseline.
func (c *canvas) text(text string, x, baseline int, color *image.Uniform) {
	c.context.SetFillColor(color)
	c.path(text, x, baseline)
	c.context.Fill()
}

// outlined writes a text with an outline in the background color, for places crossed by lines.
func (c *canvas) outlined(text string, x, baseline int, color *image.Uniform) {
	c.context.SetStrokeColor(c.ground)
	c.context.SetLineWidth(10)
	c.path(text, x, baseline)
	c.context.Stroke()
	c.text(text, x, baseline, color)
}

func (c *canvas) path(text string, x, baseline int) {
	if _, err := c.context.CreateStringPath(text, float64(x), float64(baseline)); err != nil && c.err == nil {
		c.err = err
	}
}

// indexed converts the picture to its palette, which leaves one byte per pixel to compress.
func (c *canvas) indexed() *image.Paletted {
	out := image.NewPaletted(c.image.Rect, c.palette.all())
	known := map[color.RGBA]uint8{}
	var last color.RGBA
	var index uint8
	for i := range out.Pix {
		pixel := c.image.Pix[4*i : 4*i+4 : 4*i+4]
		if now := (color.RGBA{pixel[0], pixel[1], pixel[2], pixel[3]}); now != last {
			found, ok := known[now]
			if !ok {
				found = uint8(out.Palette.Index(now)) //nolint:gosec // there are at most 256
				known[now] = found
			}
			last, index = now, found
		}
		out.Pix[i] = index
	}
	return out
}
