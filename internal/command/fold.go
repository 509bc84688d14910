package command

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// fold returns a word as names are compared: without letter case, accents, apostrophes and differences of width or style, so that José is
// jose, Straße is strasse, İbrahim is ibrahim and Алёна is алена.
//
// A mark that makes another letter stays. Decomposition turns й into и with a breve, but no Russian reader takes й for an accented и, as ё
// is taken for е: Май and Маи would be two people. The same goes for ї and ў. Outside Latin, Greek and Cyrillic marks may be vowels, so
// they stay as well.
func fold(word string) string {
	if isPlain(word) {
		return strings.ToLower(word)
	}
	var b strings.Builder
	var base rune // the last letter
	for _, r := range norm.NFKD.String(caseFold.String(norm.NFKD.String(word))) {
		switch {
		case isApostrophe(r):
		case isAccent(r):
			if isOwnLetter(base, r) {
				b.WriteRune(r)
			}
		case plainLetters[r] != "":
			b.WriteString(plainLetters[r])
			base = r
		default:
			b.WriteRune(r)
			base = r
		}
	}
	return b.String()
}

var caseFold = cases.Fold() // it has no state

// plainLetters are letters that do not decompose, and what people write who do not have them on the keyboard.
var plainLetters = map[rune]string{
	'ı': "i", 'ł': "l", 'ø': "o", 'đ': "d", 'ð': "d", 'æ': "ae", 'œ': "oe", 'þ': "th", 'ħ': "h", 'ŋ': "n",
}

// isAccent is true if r is a mark of the Latin, Greek or Cyrillic script.
func isAccent(r rune) bool { return '\u0300' <= r && r <= '\u036f' || r == '\ufe0f' }

// isOwnLetter is true if a mark turns a letter into another one: й, ў or ї.
func isOwnLetter(base, mark rune) bool {
	const breve, diaeresis = '\u0306', '\u0308'
	return mark == breve && (base == 'и' || base == 'у') || mark == diaeresis && base == 'і'
}

func isApostrophe(r rune) bool { return r == '\'' || r == '’' || r == 'ʼ' || r == '`' || r == '´' }

// isPlain is true if s has ASCII letters, digits and "_" only.
func isPlain(s string) bool { return s == "" || isWord(s) }

// atom is a piece of a text of which names consist: letters, digits, marks, "_", and apostrophes between letters.
type atom struct {
	text       string
	start, end int
}

// atoms returns the atoms of a text.
func atoms(s string) []atom {
	var all []atom
	for i := 0; i < len(s); {
		end := i + atomLength(s[i:])
		if end == i {
			_, size := utf8.DecodeRuneInString(s[i:])
			i += size
			continue
		}
		all = append(all, atom{text: s[i:end], start: i, end: end})
		i = end
	}
	return all
}

// atomLength returns the length of the atom that s begins with, 0 if there is none.
func atomLength(s string) int {
	end, apostrophe := 0, false
	for i, r := range s {
		switch {
		case isNameRune(r), unicode.IsMark(r) && i > 0 && !apostrophe:
			end, apostrophe = i+utf8.RuneLen(r), false
		case isApostrophe(r) && end > 0 && !apostrophe:
			apostrophe = true
		default:
			return end
		}
	}
	return end
}

func isNameRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) }

// foldName returns the atoms of a name, folded: two names are equal if these are.
func foldName(name string) string {
	var b strings.Builder
	for i, a := range atoms(name) {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(fold(a.text))
	}
	return b.String()
}
