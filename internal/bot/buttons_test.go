package bot

import (
	"strings"
	"testing"
	"unicode"

	"elobot/internal/catalog"
	"elobot/internal/notice"
)

// Sizes of buttons in Telegram for Android on a narrow phone, in density-independent pixels. All
// buttons of a row are equally wide, and longer labels are cut.
const (
	// rowWidth is the width of a row: a screen of 360, less the bot's picture and the margins.
	rowWidth      = 293
	buttonPadding = 12 // on both sides of a label together
	buttonGap     = 5  // between two buttons
)

// labelWidth estimates the width of a label in bold letters of 15 pixels.
func labelWidth(label string) (width int) {
	for _, r := range label {
		switch {
		case strings.ContainsRune(" .,:;!?'()|fijlrtIі", r):
			width += 4
		case unicode.IsUpper(r), strings.ContainsRune("mwжмшщфюы✓", r):
			width += 11
		default:
			width += 8
		}
	}
	return width
}

// TestButtonsFitInTheirRow checks that the labels of all buttons fit on a narrow phone, in all
// languages. The labels below the settings fit even with the mark of a choice.
func TestButtonsFitInTheirRow(t *testing.T) {
	t.Parallel()
	for name, n := range goldenNotices(t) {
		item := itemOf(t, n)
		item.ReplyTo = 7
		for _, language := range catalog.All() {
			out, err := render(item, words{Language: language})
			must(t, err)
			for _, row := range out.buttons {
				room := (rowWidth-buttonGap*(len(row)-1))/len(row) - buttonPadding
				for _, b := range row {
					label := b.text
					if notice.KindOf(n).Name == "settings" {
						label = chosenMark + strings.TrimPrefix(label, chosenMark)
					}
					if width := labelWidth(label); width > room {
						t.Errorf("%s in %s: %q takes %d, and has %d", name, language.Tag(), label, width, room)
					}
				}
			}
		}
	}
}
