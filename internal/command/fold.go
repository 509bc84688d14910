package command

import (
	"regexp"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// fold normalizes a word so that names compare equal regardless of letter case, accents,
// apostrophes, width and style: José is jose, Straße is strasse, İbrahim is ibrahim and Алёна is
// алена.
//
// The marks of й, ї and ў stay, because Май and Маи are two people. The mark of ё does not, because
// ё is commonly written as е. Outside Latin, Greek and Cyrillic, marks may be vowels, so they stay
// as well.
func fold(word string) string {
	if isWord(word) {
		return strings.ToLower(word)
	}
	decomposed := norm.NFKD.String(caseFold.String(norm.NFKD.String(word)))
	return strings.Map(func(r rune) rune {
		if isAccent(r) {
			return -1
		}
		return r
	}, plainLetters.Replace(decomposed))
}

var caseFold = cases.Fold() // stateless

// plainLetters restores й, ў and ї, drops apostrophes, and replaces letters that do not decompose
// with what people type if their keyboards lack them.
var plainLetters = strings.NewReplacer(
	"и\u0306", "й", "у\u0306", "ў", "і\u0308", "ї",
	"ı", "i", "ł", "l", "ø", "o", "đ", "d", "ð", "d", "æ", "ae", "œ", "oe", "þ", "th", "ħ", "h", "ŋ", "n",
	"'", "", "’", "", "ʼ", "", "`", "",
)

// isAccent reports whether r is one of the combining marks that Latin, Greek and Cyrillic letters
// have, or the variation selector of an emoji.
func isAccent(r rune) bool { return '\u0300' <= r && r <= '\u036f' || r == '\ufe0f' }

// atom is the smallest part of a name: a run of letters, digits, marks and "_", with single
// apostrophes inside.
type atom struct {
	text       string
	start, end int
}

var atomPattern = regexp.MustCompile("[\\pL\\pN_][\\pL\\pN\\pM_]*(?:['’ʼ`´][\\pL\\pN_][\\pL\\pN\\pM_]*)*")

func atoms(s string) []atom {
	var all []atom
	for _, at := range atomPattern.FindAllStringIndex(s, -1) {
		all = append(all, atom{text: s[at[0]:at[1]], start: at[0], end: at[1]})
	}
	return all
}

// foldName returns the folded atoms of a name, separated by spaces. Names with the same result are
// treated as equal.
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
