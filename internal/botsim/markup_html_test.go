package botsim_test

import (
	"testing"

	"elobot/internal/botsim/markup"
)

func TestStrictHTML(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"<x>a</x>":                            `Unsupported start tag "x" at byte offset 0`,
		"ж 3 < 4":                             `Unsupported start tag "" at byte offset 5`,
		"<b>a":                                `Can't find end tag corresponding to start tag "b"`,
		"a</b>":                               "Unexpected end tag at byte offset 1",
		"<b>a</i>":                            `Unmatched end tag at byte offset 4, expected "</b>", found "</i>"`,
		"<b><i>a</b></i>":                     `Unmatched end tag at byte offset 7, expected "</i>", found "</b>"`,
		"<b":                                  "Unclosed start tag at byte offset 0",
		"<b>a</b":                             "Unclosed end tag at byte offset 4",
		`<span class="x">a</span>`:            `Tag "span" must have class "tg-spoiler" at byte offset 0`,
		`<a href="https://a.b>a</a>`:          "Unclosed start tag at byte offset 0",
		`<a href=>a</a>`:                      "Unexpected end of name token at byte offset 8",
		`<tg-emoji emoji-id="x">a</tg-emoji>`: "Invalid custom emoji identifier specified at byte offset 0",
	} {
		_, _, _, err := markup.ParseHTML(text, func(int64) bool { return true })
		if err == nil || err.Error() != "can't parse entities: "+want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
