package chart

import (
	"strings"
	"unicode"

	"github.com/go-analyze/charts/chartdraw/drawing"
	"github.com/golang/freetype/truetype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/text/unicode/norm"
)

// fontSize is the size of all texts in pixels: 10 or 11 pixels when the picture is shown 360 pixels
// wide.
const fontSize = 38

// font returns the font of all texts. Unlike the library's Roboto, it has Cyrillic letters.
func font() *truetype.Font { return drawing.GetFont("notosans") }

// drawable reports whether a name in NFC can be a label: it is not empty, all its characters can be
// drawn, and it does not look like the letter of a line.
func drawable(name string) bool {
	if len(name) == 1 && name >= letter(0) && name < letter(MaxHighlighted) {
		return false
	}
	f := font()
	for _, r := range name {
		// Combining marks that NFC has not composed with a letter would need text shaping.
		if !unicode.IsGraphic(r) || unicode.IsMark(r) || f.Index(r) == 0 {
			return false
		}
	}
	return name != ""
}

// Label is the text at the end of a highlighted line.
type Label struct {
	Text string
	// Lettered is set if the text is a letter that stands for the name, because the name cannot be
	// drawn or could be mistaken for another label. The first line has the letter A. The caller
	// must tell the reader whose letter it is. Numbers are not used, because they would look like
	// places.
	Lettered bool
}

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

// shorten cuts a text that is wider than the given width in pixels, and appends an ellipsis to it.
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

// spread returns the heights at which to draw labels whose lines end at the given heights, in
// ascending order. It moves labels so that they are at least distance apart and between top and
// bottom. There must be enough room for all labels.
func spread(heights []int, distance, top, bottom int) []int {
	// A block is a run of labels that touch each other. The label with index i, counted over all
	// labels, is drawn at sum/count + i*distance.
	type block struct{ sum, count int }
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
