// Package chatpicture draws a chat as it looks on a phone. It has fonts of its own, so the picture is the same on every machine.
package chatpicture

import (
	"fmt"
	"image"
	"image/color"
	"slices"
	"strings"
	"unicode/utf8"
)

// Chat is what a picture shows.
type Chat struct {
	Title, About string
	Pinned       string // the text of the pinned message; empty for none
	Messages     []Message
}

// Message is a message of a chat.
type Message struct {
	From    string
	Own     bool   // of the person whose phone it is
	Day     string // above the message; empty if it is of the same day as the one before
	Time    string
	Text    []Span
	Photo   image.Image // above the text; nil for none
	Buttons [][]string
}

// The measures of the picture, in pixels of the screen.
const (
	width       = 400
	headerSize  = 56
	pinnedSize  = 46
	margin      = 8
	avatarSize  = 36
	bubbleLeft  = margin + avatarSize + 8 // of messages of others
	bubbleWidth = 318                     // at most
	padding     = 11
	radius      = 15
	textSize    = 15.5
	lineSize    = 21.5
	timeSize    = 11.5
	smallSize   = 13.5
	buttonSize  = 36
)

// part is a part of the picture, at most as wide as it.
type part struct {
	height float64
	draw   func(c canvas, y float64)
}

// Draw returns the picture.
func Draw(chat Chat) (image.Image, error) {
	f, err := loadFonts()
	if err != nil {
		return nil, err
	}
	digits, err := f.face(Style{Bold: true}, 0.62*textSize)
	if err != nil {
		return nil, err
	}
	p := painter{fonts: f, chat: chat}
	parts := p.head()
	for i, m := range chat.Messages {
		parts = append(parts, p.message(m, i == 0 || chat.Messages[i-1].From != m.From)...)
	}
	parts = append(parts, gap(margin))
	if p.err != nil {
		return nil, fmt.Errorf("draw a chat: %w", p.err)
	}
	height := 0.0
	for _, part := range parts {
		height += part.height
	}
	c := newCanvas(width, height, digits)
	c.gradient(rgb(0xd5e3c8), rgb(0xb9d3dc))
	y := 0.0
	for _, part := range parts {
		part.draw(c, y)
		y += part.height
	}
	return c.image, nil
}

func gap(height float64) part { return part{height, func(canvas, float64) {}} }

// painter makes the parts of a picture. err is the first error.
type painter struct {
	fonts
	chat Chat
	err  error
}

// lines breaks a text.
func (p *painter) lines(spans []Span, size, width float64) []textLine {
	lines, err := p.wrap(spans, size, width)
	if err != nil && p.err == nil {
		p.err = err
	}
	return lines
}

// oneLine returns a text that is not to be broken.
func (p *painter) oneLine(text string, size float64, style Style) textLine {
	lines := p.lines([]Span{{text, style}}, size, 10*width)
	if len(lines) == 0 {
		return textLine{}
	}
	return lines[0]
}

// cut returns as many words of a text as fit into a line.
func (p *painter) cut(text string, size, width float64) textLine {
	words := strings.Fields(text)
	all := p.oneLine(strings.Join(words, " "), size, Style{})
	for line := all; ; words = words[:len(words)-1] {
		if line.width <= width || len(words) <= 1 {
			return line
		}
		line = p.oneLine(strings.Join(words[:len(words)-1], " ")+"…", size, Style{})
	}
}

func plainly(c color.Color) colours { return colours{c, c, c} }

// head is the bar with the name of the chat, and below it the pinned message.
func (p *painter) head() []part {
	title, about := p.oneLine(p.chat.Title, textSize+1, Style{Bold: true}), p.oneLine(p.chat.About, smallSize, Style{})
	parts := []part{{headerSize, func(c canvas, y float64) {
		c.box(rect{0, y, width, headerSize}, rgb(0xffffff))
		p.avatar(c, p.chat.Title, rgb(0x5b9bd5), margin+26+avatarSize/2, y+headerSize/2)
		c.polygon(rgb(0x3b82c4), point{13, y + headerSize/2}, point{21, y + headerSize/2 - 8}, point{22.5, y + headerSize/2 - 6.5},
			point{16, y + headerSize/2}, point{22.5, y + headerSize/2 + 6.5}, point{21, y + headerSize/2 + 8})
		c.line(title, 81, y+25, textSize+1, plainly(rgb(0x111111)))
		c.line(about, 81, y+43, smallSize, plainly(rgb(0x8a949d)))
		c.box(rect{0, y + headerSize - 0.5, width, 0.5}, rgb(0xd5d9dc))
	}}}
	if p.chat.Pinned == "" {
		return parts
	}
	head := p.oneLine("Pinned message", smallSize, Style{Bold: true})
	pinned := p.cut(p.chat.Pinned, smallSize, width-26-margin)
	return append(parts, part{pinnedSize, func(c canvas, y float64) {
		c.box(rect{0, y, width, pinnedSize}, rgb(0xffffff))
		c.rounded(rect{14, y + 8, 2.5, pinnedSize - 16}, 1.25, rgb(0x3b82c4))
		c.line(head, 26, y+19.5, smallSize, plainly(rgb(0x3b82c4)))
		c.line(pinned, 26, y+36.5, smallSize, plainly(rgb(0x444b52)))
		c.box(rect{0, y + pinnedSize - 0.5, width, 0.5}, rgb(0xd5d9dc))
	}})
}

// avatar draws a circle with the first letter of a name.
func (p *painter) avatar(c canvas, name string, colour color.Color, x, y float64) {
	_, size := utf8.DecodeRuneInString(name)
	letter := p.oneLine(strings.ToUpper(name[:size]), 17, Style{Bold: true})
	c.circle(x, y, avatarSize/2, colour)
	c.line(letter, x-letter.width/2, y+6, 17, plainly(rgb(0xffffff)))
}

// colourOf returns the colour of a person: each has another one.
func (p *painter) colourOf(name string) color.RGBA {
	all := []uint32{0xe08a2e, 0x3b8ed0, 0x3f9b4b, 0x8e6cc9, 0xd9534f, 0x2fa5a0, 0xd1568f}
	var names []string
	for _, m := range p.chat.Messages {
		if !slices.Contains(names, m.From) {
			names = append(names, m.From)
		}
	}
	return rgb(all[slices.Index(names, name)%len(all)])
}
