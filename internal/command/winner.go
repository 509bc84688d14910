package command

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// clearForms are the forms of sentences that leave no doubt about who won; line.form says what their letters mean. In all others, what
// stands first may as well be the object: "a @bob le ganó @carol".
var clearForms = regexp.MustCompile(`^(?:` + strings.Join([]string{
	`[NIW][VTS][pv]?[NO]`,               // alice beat bob; alice lost to bob; bob beat me
	`[IW]F[pv]?N|NF[pv]N|NF[pv]?O`,      // я обыграла bob; alice выиграла у bob; alice обыграла меня
	`[NI]c[VT][pv][NO]`,                 // alice le ganó a bob
	`[NI][ah](?:[pv]?[NO]V|V[pv]?[NO])`, // alice hat gegen bob gewonnen; alice has beaten bob
	`[NI]?u?[VT]b[NO]`,                  // alice was beaten by bob; beaten by bob
	`a?I[pv]?Nc?[VSF]|MvNV`,             // I played against bob and won; me vs bob, won
	`[ac]?V[pv]?N|[SF][pv]N`,            // beat bob; le gané a bob; выиграл у bob
	`a?vN[VSF]|a?NV`,                    // habe gegen bob gewonnen; bob 3:1 geschlagen
	`a?[IW]?[ac]?[VSF]`,                 // I won
	`WV(?:[NIM]v|[IM]p?)N`,              // /won alice & me vs bob
}, "|") + `)$`)

// objectFirst is the form of sentences without a word for winning in which the second person may be the one who did it: "с @bob я сыграл
// 3:1".
var objectFirst = regexp.MustCompile(`^p[NO][NIO]$`)

// isUnclear is true if the words do not tell whom the score is about: the first side, as usual, or the person next to a word.
func (l line) isUnclear(m Match) bool {
	first := len(m.A)
	if m.Self {
		first = 0
	}
	form := l.form(first)
	onlyOther := len(l.people) == 1 && len(l.versus) == 0 && !l.names
	if !slices.ContainsFunc(l.claims, func(c mark) bool { return c.meaning != drew }) {
		return l.isFavor && len(l.claims) == 0 || l.isAboutOther && onlyOther || objectFirst.MatchString(form)
	}
	hasAuxiliary := strings.ContainsAny(form, "ah") // "ich habe @bob geschlagen 3:1"
	isOfOther := func(c mark) bool {
		switch {
		case c.ofOther: // "ganó @bob 3:1"
			return true
		case c.meaning == drew || hasAuxiliary:
			return false
		case onlyOther && c.at == 1: // "@bob won 3:1"
			return c.named || c.numbers == 0 || anybodysWords[strings.ToLower(c.word)]
		default: // "@alice vs @bob won 3:1"
			return !m.Self && c.named && c.at > first
		}
	}
	return slices.ContainsFunc(l.claims, isOfOther) || !clearForms.MatchString(form)
}

// form returns the people of a sentence and its words that tell who won, a letter each, in their order. A side is one letter; first
// is how many of the people are on the first one.
//
//	N  somebody named, or a team    I  the sender who does something ("I")    O  the sender, to whom it is done ("mich")
//	M  "me" in front                W  the sender, of whom a command or an earlier part of the sentence has said it
//	V  won or lost, by whoever stands before it, or by the sender    T  by somebody else than the sender ("ganó")
//	S  by anybody ("gewann", "Sieg", and what Russian and Ukrainian verbs say); F a verb with a feminine ending
//	p  a preposition    v  a versus    q  what says whose a result is ("von")    b  "by" behind a word for winning
//	f  what says for whom a score is ("for"); a preposition if somebody lost
//	c  an article or a pronoun ("el", "le")    a  an auxiliary, h if it is about somebody else    u  a passive one ("was")
func (l line) form(first int) string {
	words := slices.Concat(l.versus, l.claims, l.roles)
	slices.SortStableFunc(words, func(a, b mark) int { return a.place - b.place })
	form := ""
	if l.isOfSender {
		form = "W"
	}
	for i := range len(l.people) + 1 {
		person := "N"
		for ; len(words) > 0 && words[0].at <= i; words = words[1:] {
			if words[0].meaning == me {
				person = words[0].letterOfSender(i >= first)
				continue
			}
			if words[0].isNoun() {
				form = strings.TrimRight(form, "achu") // "it was a win"
			}
			form = withLetter(form, words[0].letter())
		}
		switch {
		case i == len(l.people):
		case i == 0 || i == first:
			form += person
		default:
			form = withPartner(form, person)
		}
	}
	if claim, err := l.claim(); err == nil && claim == lost {
		return strings.ReplaceAll(form, "f", "p") // "perdi para @bob"
	}
	return form
}

// letterOfSender returns the letter of a word for the sender. isOpponent says that it is on the second side.
func (m mark) letterOfSender(isOpponent bool) string {
	switch word := strings.ToLower(m.word); {
	case word == "me" && !isOpponent:
		return "M"
	case objects[word]:
		return "O"
	default:
		return "I"
	}
}

// withPartner returns a form with one more member of the team that it ends with.
func withPartner(form, person string) string {
	before := strings.TrimRight(form, "pc") // "me with @alice"
	last := len(before) - 1
	switch {
	case !strings.ContainsAny(before[last:], "NIOM"): // there is a word between them
		return form + person
	case person == "M" || before[last] == 'M': // "@alice and me beat"
		return before[:last] + "N"
	case person == "N":
		return before
	default:
		return before[:last] + person
	}
}

// letters are those of the words that name nobody, and say nothing about who won on their own.
var letters = map[meaning]string{
	versus: "v", preposition: "p", favor: "f", agent: "q", by: "b", article: "c", auxiliary: "a", has: "h", passive: "u",
}

// isNoun is true if a word about who won is a noun, of which an auxiliary says nothing.
func (m mark) isNoun() bool {
	word := strings.ToLower(m.word)
	return resultWords[word] || shortResultWords[word]
}

func (m mark) letter() string {
	if m.meaning != won && m.meaning != lost {
		return letters[m.meaning]
	}
	switch word := strings.ToLower(m.word); {
	case othersWords[word]:
		return "T"
	case isSlavicVerb(word) && (strings.HasSuffix(word, "ла") || strings.HasSuffix(word, "лась") || strings.HasSuffix(word, "лася")):
		return "F"
	case isSlavicVerb(word), maybeOthersWords[word], resultWords[word]:
		return "S"
	default:
		return "V"
	}
}

// withLetter returns a form with the letter of one more word. Of several words between a word for winning and a person, one counts: "contra
// o", "con el".
func withLetter(form, letter string) string {
	last := ""
	if form != "" {
		last = form[len(form)-1:]
	}
	switch {
	case letter == "c" && strings.ContainsAny(last, "pvfqbc"), letter == "p" && strings.ContainsAny(last, "pvfqb"):
		return form
	case strings.ContainsAny(letter, "pvfq") && strings.ContainsAny(last, "pc"):
		return form[:len(form)-1] + letter
	default:
		return form + letter
	}
}

// isSlavicVerb is true if a word, in lower case, is a Russian or Ukrainian verb about who won. Its subject may stand behind it.
func isSlavicVerb(word string) bool {
	m := meaningOf(word)
	return (m == won || m == lost) && strings.ContainsFunc(word, isCyrillic) && !resultWords[word]
}

func isCyrillic(r rune) bool { return unicode.Is(unicode.Cyrillic, r) }
