package botsim

import (
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// utf16Len is the length of a text in UTF-16 units, in which the Bot API counts.
func utf16Len(text string) int {
	n := 0
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}

// isWord tells whether a character continues a word, so that no mention or command begins after it.
func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || r == '_' }

// decode is the first character of a text, 0 if there is none.
func decode(text string) (rune, int) {
	if text == "" {
		return 0, 0
	}
	return utf8.DecodeRuneInString(text)
}

func lastRune(text string) (rune, int) { return utf8.DecodeLastRuneInString(text) }
