package chatpicture

import (
	"image/color"
	"math"
)

// symbol draws a character that the fonts lack. x is its left edge, y the base line, and size that of the text around it.
type symbol func(c canvas, x, y, size float64, text color.Color)

// symbolWidth is the width of a symbol, as a share of the size of the text.
const symbolWidth = 1.25

// symbols returns how the symbols are drawn.
func symbols() map[rune]symbol {
	return map[rune]symbol{
		'🥇': medal("1", rgb(0xf2c230), rgb(0xc98f0b)),
		'🥈': medal("2", rgb(0xc9d1d8), rgb(0x8f9ba6)),
		'🥉': medal("3", rgb(0xdb9a64), rgb(0xa9653a)),
		'🏆': trophy,
		'🎯': target,
		'▸': triangle,
		'✓': tick,
	}
}

// rgb returns an opaque colour.
func rgb(hex uint32) color.RGBA {
	return color.RGBA{uint8(hex >> 16), uint8(hex >> 8), uint8(hex), 0xff} //nolint:gosec // bytes
}

// medal is a medal with a number, on a ribbon.
func medal(number string, face, rim color.RGBA) symbol {
	return func(c canvas, x, y, size float64, _ color.Color) {
		middle, top := x+0.58*size, y-0.95*size
		ribbon := func(from, to float64, colour color.Color) {
			c.polygon(colour, point{middle + from*size, top}, point{middle + (from+0.26)*size, top},
				point{middle + (to+0.13)*size, top + 0.5*size}, point{middle + (to-0.13)*size, top + 0.5*size})
		}
		ribbon(-0.4, 0, rgb(0x3b7dd8))
		ribbon(0.14, 0, rgb(0x2f66b3))
		centre := y - 0.22*size
		c.circle(middle, centre, 0.40*size, rim)
		c.circle(middle, centre, 0.33*size, face)
		c.text(c.digits, number, middle-c.digits.width(number)/2, centre+0.22*size, rgb(0x4a3410))
	}
}

// trophy is a golden cup.
func trophy(c canvas, x, y, size float64, _ color.Color) {
	gold, dark := rgb(0xf2b824), rgb(0xc98f0b)
	middle := x + 0.58*size
	for _, side := range []float64{-1, 1} { // handles
		c.circle(middle+side*0.36*size, y-0.62*size, 0.17*size, dark)
		c.circle(middle+side*0.36*size, y-0.62*size, 0.09*size, rgb(0xffffff))
	}
	c.polygon(gold, point{middle - 0.36*size, y - 0.88*size}, point{middle + 0.36*size, y - 0.88*size},
		point{middle + 0.30*size, y - 0.5*size}, point{middle + 0.1*size, y - 0.3*size},
		point{middle - 0.1*size, y - 0.3*size}, point{middle - 0.30*size, y - 0.5*size})
	c.box(rect{middle - 0.07*size, y - 0.32*size, 0.14 * size, 0.24 * size}, dark)
	c.rounded(rect{middle - 0.28*size, y - 0.09*size, 0.56 * size, 0.16 * size}, 0.04*size, rgb(0x7a5230))
}

// target is a target with an arrow in it.
func target(c canvas, x, y, size float64, _ color.Color) {
	middle, centre := x+0.55*size, y-0.36*size
	for i, radius := range []float64{0.48, 0.37, 0.26, 0.13} {
		c.circle(middle, centre, radius*size, []color.Color{rgb(0xd8352c), rgb(0xffffff)}[i%2])
	}
	c.circle(middle, centre, 0.13*size, rgb(0xd8352c))
	away := math.Sqrt2 / 2 * size
	c.polygon(rgb(0x3b5a78), point{middle - 0.03*size, centre - 0.03*size}, point{middle + 0.03*size, centre + 0.03*size},
		point{middle + 0.74*away, centre - 0.64*away}, point{middle + 0.64*away, centre - 0.74*away})
}

// triangle points to the line of whoever asked.
func triangle(c canvas, x, y, size float64, text color.Color) {
	left, centre := x+0.3*size, y-0.34*size
	c.polygon(text, point{left, centre - 0.26*size}, point{left + 0.42*size, centre}, point{left, centre + 0.26*size})
}

// tick marks what is chosen.
func tick(c canvas, x, y, size float64, text color.Color) {
	at := func(dx, dy float64) point { return point{x + dx*size, y + dy*size} }
	c.polygon(text, at(0.15, -0.36), at(0.25, -0.45), at(0.43, -0.25), at(0.88, -0.75), at(0.98, -0.66), at(0.44, -0.05))
}
