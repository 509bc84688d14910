package chatpicture

import (
	"fmt"
	"image"
	"image/color"
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goitalic"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// Style is how a text looks. Code is neither bold nor italic, and what is bold is not italic.
type Style struct {
	Bold, Italic, Code, Struck bool
	Link                       bool // a command or a mention
}

// Span is a part of a text with one style.
type Span struct {
	Text string
	Style
}

// fonts are the fonts by the style that needs them.
type fonts struct{ regular, bold, italic, code *opentype.Font }

func loadFonts() (f fonts, err error) {
	for _, load := range []struct {
		into **opentype.Font
		from []byte
	}{{&f.regular, goregular.TTF}, {&f.bold, gobold.TTF}, {&f.italic, goitalic.TTF}, {&f.code, gomono.TTF}} {
		if *load.into, err = opentype.Parse(load.from); err != nil {
			return f, fmt.Errorf("load font: %w", err)
		}
	}
	return f, nil
}

// face is a font in a size.
type face struct {
	font.Face
	of *opentype.Font
}

// face returns the font of a style in a size.
func (f fonts) face(s Style, size float64) (face, error) {
	of := f.regular
	switch {
	case s.Code:
		of = f.code
	case s.Bold:
		of = f.bold
	case s.Italic:
		of = f.italic
	}
	sized, err := opentype.NewFace(of, &opentype.FaceOptions{Size: size * scale, DPI: 72})
	if err != nil {
		return face{}, fmt.Errorf("load font: %w", err)
	}
	return face{sized, of}, nil
}

// has reports whether the font has a character.
func (f face) has(r rune) bool {
	index, err := f.of.GlyphIndex(nil, r)
	return err == nil && index != 0
}

// width returns the width of a text.
func (f face) width(text string) float64 {
	return float64(font.MeasureString(f, text)) / 64 / scale
}

// piece is a part of a line: text of one style without a space in it, a space, or a symbol.
type piece struct {
	text  string
	draw  symbol // nil for text
	style Style
	face  face
	width float64
}

// textLine is a line of a text.
type textLine struct {
	pieces []piece
	width  float64
}

// invisible are characters around names that mark the direction of writing, and those that choose the form of an emoji.
const invisible = "\u2068\u2069\u2060\ufe0f"

// pieces splits spans. A new line is a piece.
func (f fonts) pieces(spans []Span, size float64) (all []piece, err error) {
	for _, s := range spans {
		face, err := f.face(s.Style, size)
		if err != nil {
			return nil, err
		}
		var word strings.Builder
		flush := func() {
			if word.Len() > 0 {
				text := word.String()
				all = append(all, piece{text: text, style: s.Style, face: face, width: face.width(text)})
				word.Reset()
			}
		}
		for _, r := range s.Text {
			switch draw, isSymbol := symbols()[r]; {
			case strings.ContainsRune(invisible, r):
			case isSymbol:
				flush()
				all = append(all, piece{draw: draw, style: s.Style, face: face, width: size * symbolWidth})
			case r == ' ' || r == '\n':
				flush()
				all = append(all, piece{text: string(r), style: s.Style, face: face, width: face.width(" ")})
			case !face.has(r):
				return nil, fmt.Errorf("the fonts lack %q of %q", r, s.Text)
			default:
				word.WriteRune(r)
			}
		}
		flush()
	}
	return all, nil
}

// wrap breaks a text into lines, between words.
func (f fonts) wrap(spans []Span, size, width float64) ([]textLine, error) {
	all, err := f.pieces(spans, size)
	if err != nil {
		return nil, err
	}
	var lines []textLine
	var current, word textLine
	endWord := func() {
		if current.width+word.width > width && current.width > 0 {
			lines, current = append(lines, current.trimmed()), textLine{}
		}
		current = textLine{append(current.pieces, word.pieces...), current.width + word.width}
		word = textLine{}
	}
	for _, p := range all {
		switch p.text {
		case "\n":
			endWord()
			lines, current = append(lines, current), textLine{}
		case " ":
			endWord()
			current = textLine{append(current.pieces, p), current.width + p.width}
		default:
			word = textLine{append(word.pieces, p), word.width + p.width}
		}
	}
	endWord()
	return append(lines, current), nil
}

// trimmed returns a line without spaces at its end.
func (l textLine) trimmed() textLine {
	for n := len(l.pieces); n > 0 && l.pieces[n-1].text == " "; n-- {
		l = textLine{l.pieces[:n-1], l.width - l.pieces[n-1].width}
	}
	return l
}

// colours are those of a text.
type colours struct{ text, link, code color.Color }

// line draws a line of text. y is its base line.
func (c canvas) line(l textLine, x, y, size float64, in colours) {
	for _, p := range l.pieces {
		colour := in.text
		switch {
		case p.style.Link:
			colour = in.link
		case p.style.Code:
			colour = in.code
		}
		if p.draw != nil {
			p.draw(c, x, y, size, colour)
		} else {
			c.text(p.face, p.text, x, y, colour)
		}
		if p.style.Struck {
			c.box(rect{x, y - 0.3*size, p.width, 0.06 * size}, colour)
		}
		x += p.width
	}
}

// text draws a text of one style.
func (c canvas) text(face face, text string, x, y float64, colour color.Color) {
	at := fixed.Point26_6{X: fixed.Int26_6(x * scale * 64), Y: fixed.Int26_6(y * scale * 64)}
	drawer := font.Drawer{Dst: c.image, Src: image.NewUniform(colour), Face: face, Dot: at}
	drawer.DrawString(text)
}
