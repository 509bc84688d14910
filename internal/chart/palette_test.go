package chart

import (
	"image/color"
	"math"
	"testing"
)

// rgbLinear is a color as amounts of red, green and blue light.
type rgbLinear [3]float64

func linear(c color.Color) rgbLinear {
	r, g, b, _ := c.RGBA()
	var out rgbLinear
	for i, v := range []uint32{r, g, b} {
		out[i] = math.Pow((float64(v)/0xffff+0.055)/1.055, 2.4)
	}
	return out
}

// visions maps a kind of vision to the matrix that turns a color into the color seen: normal
// vision, and the three kinds of color blindness after Machado, Oliveira and Fernandes (2009).
var visions = map[string][3]rgbLinear{
	"normal":       {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritanopia":   {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

func dot(a, b rgbLinear) float64 { return max(a[0]*b[0]+a[1]*b[1]+a[2]*b[2], 0) }

func luminance(c color.Color) float64 { return dot(linear(c), rgbLinear{0.2126, 0.7152, 0.0722}) }

// seen returns a color as a person with the given vision sees it, in the CIELAB color space. The
// distance between two colors in that space measures how different they look.
func seen(c color.Color, vision [3]rgbLinear) rgbLinear {
	in := linear(c)
	light := rgbLinear{dot(vision[0], in), dot(vision[1], in), dot(vision[2], in)}
	x := math.Cbrt(dot(light, rgbLinear{0.4124, 0.3576, 0.1805}) / 0.9505)
	y := math.Cbrt(dot(light, rgbLinear{0.2126, 0.7152, 0.0722}))
	z := math.Cbrt(dot(light, rgbLinear{0.0193, 0.1192, 0.9505}) / 1.089)
	return rgbLinear{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// TestColors checks that the colors of highlighted lines have the contrast to the background that
// WCAG 2.2 requires for graphics. They differ from each other by at least 15 in each of the
// visions. A difference of about 2 is just noticeable.
func TestColors(t *testing.T) {
	t.Parallel()
	light, dark := palettes()
	for name, p := range map[string]palette{"light": light, "dark": dark} {
		for i, a := range p.lines {
			low, high := luminance(p.ground), luminance(a)
			if low > high {
				low, high = high, low
			}
			if contrast := (high + 0.05) / (low + 0.05); contrast < 3 {
				t.Errorf("%s: the contrast of line %d is %.1f", name, i, contrast)
			}
			for kind, vision := range visions {
				for j, b := range p.lines[:i] {
					x, y := seen(a, vision), seen(b, vision)
					if d := math.Hypot(math.Hypot(x[0]-y[0], x[1]-y[1]), x[2]-y[2]); d < 15 {
						t.Errorf("%s, %s: lines %d and %d differ by %.0f", name, kind, i, j, d)
					}
				}
			}
		}
	}
}
