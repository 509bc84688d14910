package chart

import (
	"strings"
	"unicode"

	"github.com/go-analyze/charts/chartdraw/drawing"
	"github.com/golang/freetype/truetype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/text/unicode/norm"
)

// fontSize is the size of all texts in pixels: 10 or 11 pixels where the picture is 360 pixels wide.
const fontSize = 38

// font returns the one font that is used. Of the library's fonts, it alone has Cyrillic letters.
func font() *truetype.Font { return drawing.GetFont("notosans") }

// drawable is true if the font has all characters of a name in NFC. A name that looks like the letter of a line does not count.
func drawable(name string) bool {
	if len(name) == 1 && name >= letter(0) && name < letter(MaxHighlighted) {
		return false
	}
	f := font()
	for _, r := range name {
		// Marks that no letter has absorbed would need a shaper.
		if !unicode.IsGraphic(r) || unicode.IsMark(r) || f.Index(r) == 0 {
			return false
		}
	}
	return name != ""
}

// Label is what is written at the end of a highlighted line.
type Label struct {
	Text string
	// Lettered is true if the text is the letter of the line, from A, because the name cannot be drawn or would look like another one. A
	// number would look like a place. Whoever shows the picture has to say whose letter it is.
	Lettered bool
}

// letter returns the letter of a line.
func letter(line int) string { return string(rune('A' + line)) }

// Labels returns the labels of highlighted lines with these names. Long names are cut.
func Labels(names []string) []Label {
	labels, count := make([]Label, len(names)), map[string]int{}
	for i, name := range names {
		if name = norm.NFC.String(strings.TrimSpace(name)); drawable(name) {
			labels[i].Text = shorten(name, maxLabel)
			count[labels[i].Text]++
		}
	}
	for i, label := range labels {
		if count[label.Text] != 1 {
			labels[i] = Label{letter(i), true}
		}
	}
	return labels
}

// textWidth returns the width of a text in pixels.
func textWidth(text string) int {
	f, width := font(), fixed.Int26_6(0)
	for _, r := range text {
		width += f.HMetric(fixed.I(fontSize), f.Index(r)).AdvanceWidth
	}
	return width.Ceil()
}

// shorten cuts a text to a width in pixels.
func shorten(text string, width int) string {
	if textWidth(text) <= width {
		return text
	}
	runes := []rune(text)
	for textWidth(string(runes)+"…") > width && len(runes) > 0 {
		runes = runes[:len(runes)-1]
	}
	return strings.TrimSpace(string(runes)) + "…"
}

// spread moves labels apart that are centered at the given heights, ascending, so that neighbors are distance apart and all are between top
// and bottom. It moves them as little as it can.
func spread(heights []int, distance, top, bottom int) []int {
	type block struct{ sum, count int } // neighbors that touch, and where the first of them wants to be
	var blocks []block
	for i, height := range heights {
		last := block{sum: min(max(height-i*distance, top), bottom-(len(heights)-1)*distance), count: 1}
		for len(blocks) > 0 && blocks[len(blocks)-1].sum*last.count > last.sum*blocks[len(blocks)-1].count {
			before := blocks[len(blocks)-1]
			last = block{sum: before.sum + last.sum, count: before.count + last.count}
			blocks = blocks[:len(blocks)-1]
		}
		blocks = append(blocks, last)
	}
	var out []int
	for _, b := range blocks {
		for range b.count {
			out = append(out, b.sum/b.count+len(out)*distance)
		}
	}
	return out
}
