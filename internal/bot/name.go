package bot

import (
	"cmp"
	"fmt"
	"html"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/rivo/uniseg"

	"elobot/internal/ranking"
)

const (
	// maxName is the maximum length of a shown name in characters, as readers count them.
	maxName = 32
	// maxNameUnits is the maximum length of a shown name in UTF-16 units, in which the bot measures
	// messages. Without this limit, a single character with many accents could fill a message.
	maxNameUnits = 64

	isolate    = "\u2068" // begins a text with a writing direction of its own
	endIsolate = "\u2069" // ends such a text
	joiner     = "\u2060" // invisible, and ends a link, a mention and a command
)

// displayName returns the name to store for u: the full name, or else the username, or else
// ranking.Nameless.
func displayName(u user) string {
	return cmp.Or(cleanName(u.FirstName+" "+u.LastName), cleanName(u.Username), ranking.Nameless)
}

// nameNameless replaces each name ranking.Nameless or ranking.Former in the value behind pointer
// with a placeholder in the language of w.
func (w words) nameNameless(pointer any) {
	ranking.EachName(pointer, func(name *ranking.Name) { *name = w.inPlaceOfNone(*name) })
}

func (w words) inPlaceOfNone(n ranking.Name) ranking.Name {
	return n.InPlaceOfNone(w.Text("names.nameless", nil), w.Text("names.former", nil))
}

// called returns a stored name or, for ranking.Nameless and ranking.Former, a placeholder in the
// language of w.
func (w words) called(name string) string {
	if name == ranking.Nameless {
		return w.Text("names.nameless", nil)
	}
	return w.inPlaceOfNone(ranking.Name{Name: name}).Name
}

// cleanName is visibleName, but also cuts long names.
func cleanName(name string) string { return cut(visibleName(name), maxName, maxNameUnits) }

// visibleName removes from a name what would disturb the text around it, or could make two names
// look the same, such as control characters, direction marks and extra white space. The result is
// empty if nothing visible remains.
func visibleName(name string) string {
	visible := false
	cleaned := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r) || isBlank(r):
			return ' '
		case isUnprintable(r):
			return -1
		}
		visible = visible || unicode.IsPrint(r) && !unicode.IsMark(r)
		return r
	}, name)
	if !visible {
		return ""
	}
	return strings.Join(strings.Fields(cleaned), " ")
}

// isUnprintable reports whether a rune does not belong in readable text.
func isUnprintable(r rune) bool {
	return !unicode.IsPrint(r) && !isPartOfCharacter(r) || r == unicode.ReplacementChar
}

// isBlank reports whether a rune is an invisible letter or symbol.
func isBlank(r rune) bool {
	switch r {
	case '\u115f', '\u1160', '\u3164', '\uffa0', '\u2800':
		return true
	}
	return false
}

// isPartOfCharacter reports whether a rune is invisible, but needed by some emoji or scripts.
func isPartOfCharacter(r rune) bool {
	return r == '\u200c' || r == '\u200d' || r >= 0xE0020 && r <= 0xE007F
}

// cut shortens a text to at most maxCharacters characters and maxUnits UTF-16 units, including the
// ellipsis that replaces the rest. It splits a character only if the first character alone is too
// long.
func cut(text string, maxCharacters, maxUnits int) string {
	if utf16Length(text) <= min(maxCharacters, maxUnits-1) {
		return text // every character has at least one unit, so segmentation is not needed
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

func utf16Length(text string) (units int) {
	for _, r := range text {
		units += utf16.RuneLen(r)
	}
	return units
}

// firstUnits returns the longest prefix of a text that fits into units UTF-16 units.
func firstUnits(text string, units int) string {
	for i, r := range text {
		if units -= utf16.RuneLen(r); units < 0 {
			return text[:i]
		}
	}
	return text
}

// linkEnders puts an invisible joiner after certain characters, so that no part of a name becomes a
// mention, a command, a tag or a link.
var linkEnders = strings.NewReplacer(
	"@", "@"+joiner, "/", "/"+joiner, "#", "#"+joiner, "$", "$"+joiner, ".", "."+joiner, ":", ":"+joiner)

// codeText is showText for a text inside <code>. It adds no invisible characters, because people
// copy such texts.
func codeText(text string) string { return html.EscapeString(cleanName(text)) }

// showText renders a text that people chose: it cleans the text, breaks its links, escapes it for
// HTML, and isolates its writing direction. Outside <code>, such texts must not get into the text
// of a message in any other way.
func showText(text string) string {
	return isolate + html.EscapeString(linkEnders.Replace(cleanName(text))) + endIsolate
}

// showWord is showText for a word that the bot did not understand. It shows invisible characters as
// code points, such as U+202E; otherwise the word would look correct or empty.
func showWord(word string) string {
	invisible := cleanName(word) == ""
	var b strings.Builder
	for _, r := range word {
		if invisible || isBlank(r) || isUnprintable(r) && !unicode.IsSpace(r) {
			fmt.Fprintf(&b, " U+%04X ", r)
		} else {
			b.WriteRune(r)
		}
	}
	return showText(b.String())
}

// showName is showText for a player's name, with the mark, if any, that distinguishes players of
// the same name.
func showName(n ranking.Name) string {
	shown := showText(n.Name)
	if n.Mark != "" {
		shown += " (" + showText(n.Mark) + ")"
	}
	return shown
}
