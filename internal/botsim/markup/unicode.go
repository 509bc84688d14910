package markup

import (
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// UTF16Len returns the length of a text in UTF-16 units, the unit of the Bot API.
func UTF16Len(text string) int {
	n := 0
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}

// isWord reports whether a character continues a word. No mention or command begins after such a character.
func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || r == '_' }

// decode returns the first character of a text and its size in bytes, 0 if the text is empty.
func decode(text string) (rune, int) {
	if text == "" {
		return 0, 0
	}
	return utf8.DecodeRuneInString(text)
}

func lastRune(text string) (rune, int) { return utf8.DecodeLastRuneInString(text) }
