package bot

import (
	"fmt"
	"html"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/rivo/uniseg"

	"elobot/internal/ranking"
)

const (
	// maxName is how many characters, as people count them, are shown of a name.
	maxName = 32
	// maxNameUnits bounds what a few characters can be made of, in the UTF-16 units that the length of a message is
	// counted in: accents can be piled up without end.
	maxNameUnits = 64

	isolate    = "\u2068" // what follows has its own direction of writing …
	endIsolate = "\u2069" // … until here
	joiner     = "\u2060" // invisible, and ends a link, a mention and a command
)

// displayName returns a person's name as it is kept.
func displayName(u user) string {
	for _, name := range [...]string{u.FirstName + " " + u.LastName, u.Username} {
		if cleaned := cleanName(name); cleaned != "" {
			return cleaned
		}
	}
	return "Player " + strconv.FormatInt(u.ID, 10)
}

// cleanName takes out of a name what would disturb the text around it or could make two different names look the
// same: controls, marks of direction, white space of all kinds. It is empty when nothing is left to be seen.
func cleanName(name string) string {
	visible := false
	cleaned := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r) || isBlank(r):
			return ' '
		case isUnprintable(r):
			return -1
		}
		visible = visible || unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S)
		return r
	}, name)
	if !visible {
		return ""
	}
	return shorten(strings.Join(strings.Fields(cleaned), " "))
}

// isUnprintable tells what does not belong into a text that people read.
func isUnprintable(r rune) bool {
	return !unicode.IsPrint(r) && !isPartOfCharacter(r) || r == unicode.ReplacementChar
}

// isBlank tells letters and symbols that look like nothing.
func isBlank(r rune) bool {
	switch r {
	case '\u115f', '\u1160', '\u3164', '\uffa0', '\u2800':
		return true
	}
	return false
}

// isPartOfCharacter tells the invisible runes that some emoji and some scripts need.
func isPartOfCharacter(r rune) bool {
	return r == '\u200c' || r == '\u200d' || r >= 0xE0020 && r <= 0xE007F
}

// shorten cuts a name that is too long.
func shorten(name string) string { return cut(name, maxName, maxNameUnits) }

// cut cuts a text after so many characters or UTF-16 units, without cutting a character in two.
func cut(text string, maxCharacters, maxUnits int) string {
	if utf16Length(text) <= min(maxCharacters, maxUnits-1) {
		return text // no character has less than one unit, so there is no need to find out where they begin
	}
	characters, units := 0, 0
	for rest, state := text, -1; rest != ""; {
		begin := len(text) - len(rest)
		var character string
		character, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		length := utf16Length(character)
		if characters == maxCharacters-1 && rest != "" || units+length > maxUnits-1 {
			shown := text[:begin]
			if begin == 0 {
				shown = firstUnits(character, maxUnits-1)
			}
			return strings.TrimRight(shown, " ") + "…"
		}
		characters++
		units += length
	}
	return text
}

func utf16Length(text string) int {
	n := 0
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}

// firstUnits returns as many runes of the beginning of a text as fit into so many units.
func firstUnits(text string, units int) string {
	for i, r := range text {
		if units -= utf16.RuneLen(r); units < 0 {
			return text[:i]
		}
	}
	return text
}

// linkEnders get an invisible joiner behind them, so that no part of a name becomes a mention, a command, a tag or a
// link.
var linkEnders = strings.NewReplacer(
	"@", "@"+joiner, "/", "/"+joiner, "#", "#"+joiner, "$", "$"+joiner, ".", "."+joiner, ":", ":"+joiner)

// showText is the one way for a text that people have chosen into a message: cleaned, its links broken, escaped for
// HTML and isolated in its direction of writing.
func showText(text string) string {
	return isolate + html.EscapeString(linkEnders.Replace(cleanName(text))) + endIsolate
}

// showWord is showText for a word that could not be read. What nobody can see in it is shown by its code points, as
// U+202E: else it would look right, or like nothing.
func showWord(word string) string {
	nothing := cleanName(word) == ""
	var b strings.Builder
	for _, r := range word {
		if nothing || isBlank(r) || isUnprintable(r) && !unicode.IsSpace(r) {
			fmt.Fprintf(&b, " U+%04X ", r)
		} else {
			b.WriteRune(r)
		}
	}
	return showText(b.String())
}

// showName is showText for the name of a player, with the mark that tells them from others of that name.
func showName(n ranking.Name) string {
	shown := showText(n.Name)
	if n.Mark != "" {
		shown += " (" + showText(n.Mark) + ")"
	}
	return shown
}
