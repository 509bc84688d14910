package chatpicture

// message returns a message with what is around it. first is true if the one before is from somebody else.
func (p *painter) message(m Message, first bool) []part {
	var parts []part
	if m.Day != "" {
		parts = append(parts, p.day(m.Day))
	}
	space := 3.0
	if first {
		space = 8
	}
	b := p.layout(m, first)
	parts = append(parts, gap(space), p.bubble(m, b))
	for _, row := range m.Buttons {
		parts = append(parts, gap(3), p.buttons(row, m, b.width))
	}
	return parts
}

// day returns a date between messages.
func (p *painter) day(day string) part {
	text := p.oneLine(day, smallSize, Style{Bold: true})
	return part{36, func(c canvas, y float64) {
		left := (width - text.width) / 2
		c.rounded(rect{left - 11, y + 9, text.width + 22, 24}, 12, rgb(0x7f9a8c))
		c.line(text, left, y+25.5, smallSize, plainly(rgb(0xffffff)))
	}}
}

// leftOf returns the left edge of a message of this width.
func leftOf(m Message, bubble float64) float64 {
	if m.Own {
		return width - margin - bubble
	}
	return bubbleLeft
}

// bubble returns the bubble of a message, with the picture of who wrote it.
func (p *painter) bubble(m Message, b content) part {
	return part{b.height, func(c canvas, y float64) {
		left, ground := leftOf(m, b.width), rgb(0xffffff)
		if m.Own {
			ground = rgb(0xe7fbd3)
		} else {
			p.avatar(c, m.From, p.colourOf(m.From), margin+avatarSize/2, y+b.height-avatarSize/2)
		}
		c.rounded(rect{left, y + 0.8, b.width, b.height}, radius, rgb(0xa9bdb4)) // a shadow
		c.rounded(rect{left, y, b.width, b.height}, radius, ground)
		b.draw(c, left, y)
	}}
}

// content is what is in a bubble.
type content struct {
	width, height float64
	draw          func(c canvas, x, y float64)
}

// layout places the contents of a bubble.
func (p *painter) layout(m Message, first bool) content {
	const inside = bubbleWidth - 2*padding
	sent := p.oneLine(m.Time, timeSize, Style{})
	lines := p.lines(m.Text, textSize, inside)
	var name textLine
	top := 6.0
	if first && !m.Own {
		name = p.oneLine(m.From, smallSize+0.5, Style{Bold: true})
		top += 18
	}
	wide, last := name.width, 0.0
	for _, l := range lines {
		wide, last = max(wide, l.width), l.width
	}
	bottom := 8.0
	switch { // the time is behind the last line, or below it
	case last+10+sent.width <= inside:
		wide = max(wide, last+10+sent.width)
	default:
		bottom += 14
	}
	for _, row := range m.Buttons {
		for _, label := range row {
			wide = max(wide, float64(len(row))*(p.oneLine(label, smallSize+0.5, Style{Bold: true}).width+20))
		}
	}
	photo := 0.0
	if m.Photo != nil {
		wide = inside
		size := m.Photo.Bounds().Size()
		photo = (bubbleWidth - 6) * float64(size.Y) / float64(size.X)
	}
	textTop := top + photo
	if photo > 0 {
		textTop += 4
	}
	b := content{width: wide + 2*padding, height: textTop + lineSize*float64(len(lines)) + bottom}
	b.draw = func(c canvas, x, y float64) {
		if first && !m.Own {
			c.line(name, x+padding, y+20, smallSize+0.5, plainly(p.colourOf(m.From)))
		}
		if photo > 0 {
			c.photo(rect{x + 3, y + top, bubbleWidth - 6, photo}, 4, m.Photo)
		}
		text := colours{rgb(0x16191c), rgb(0x2478b8), rgb(0x2478b8)}
		for i, l := range lines {
			c.line(l, x+padding, y+textTop+lineSize*float64(i)+16, textSize, text)
		}
		grey := rgb(0x94a0a8)
		if m.Own {
			grey = rgb(0x62a35c)
		}
		c.line(sent, x+b.width-padding-sent.width+2, y+b.height-8, timeSize, plainly(grey))
	}
	return b
}

// buttons returns a row of buttons below a message of this width.
func (p *painter) buttons(row []string, m Message, bubble float64) part {
	const between = 3
	each := (bubble - between*float64(len(row)-1)) / float64(len(row))
	return part{buttonSize, func(c canvas, y float64) {
		for i, label := range row {
			x := leftOf(m, bubble) + float64(i)*(each+between)
			text := p.oneLine(label, smallSize+0.5, Style{Bold: true})
			c.rounded(rect{x, y, each, buttonSize}, 9, rgb(0x86a19b))
			c.line(text, x+(each-text.width)/2, y+buttonSize/2+5, smallSize+0.5, plainly(rgb(0xffffff)))
		}
	}}
}
