package command

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"elobot/internal/ladder"
)

// number is one of the two numbers of a score.
type number struct {
	text      string
	word      string // the whole word that contains it
	separator string // the colon or dash between it and the previous number, or empty
	at        int    // how many people precede it

	isEnclosed bool // the score is in brackets of its own
}

// scoreText collects the numbers and separators of scores, word by word.
type scoreText struct {
	numbers     []number
	afterNumber bool   // the last thing read is a number
	open        string // a separator that still lacks its second number
	stray       string // the first separator that is not between two numbers
	isEnclosed  bool   // the word being added is in brackets of its own
	hasHalf     bool   // a lone ½ was read as a drawn game
}

// add reads a word. It fails unless the word consists of separators and of numbers that a score can
// have. at is the number of people who precede the word.
func (t *scoreText) add(word string, at int) error {
	rest := word
	if word == oneTwo {
		rest = "1:2"
	}
	if err := wordFault(rest, word); err != nil {
		return err
	}
	for size := 0; rest != ""; rest = rest[size:] {
		size = len(rest) - len(strings.TrimLeft(rest, digits+half))
		if size == 0 {
			_, size = utf8.DecodeRuneInString(rest)
			t.addSeparator(rest[:size])
			continue
		}
		whole := strings.TrimSuffix(rest[:size], half)
		switch {
		case strings.Contains(whole, half): // "½2"
			return formError(ReasonUnexpectedWord, word)
		case len(whole) > maxDigits:
			return formError(ReasonScoreTooLarge, rest[:size])
		}
		t.numbers = append(t.numbers,
			number{text: rest[:size], word: word, separator: t.open, at: at, isEnclosed: t.isEnclosed})
		t.afterNumber, t.open = true, ""
	}
	return nil
}

// withDraw returns "½:½" for a "½" that is a drawn game, and any other word unchanged. next is the
// word that follows. In "½ - ½" and "½ 2½", each "½" is the points of one side.
func (t *scoreText) withDraw(word, next string) string {
	isOfSide := len(t.numbers)%2 != 0 || isSign(next) || next != half && isPoints(next)
	if word == half && !isOfSide {
		t.hasHalf = true
		return "½:½"
	}
	return word
}

func (t *scoreText) addSeparator(separator string) {
	if t.afterNumber {
		t.open = separator
	} else {
		t.stray = cmp.Or(t.stray, t.open, separator)
		t.open = ""
	}
	t.afterNumber = false
}

// scores returns the scores read so far. If there are several, each needs a separator. A
// ReasonIncompleteScore error names the only number outside of scores with a separator, or else the
// last number.
func (t *scoreText) scores() ([]ladder.Score, error) {
	var scores []ladder.Score
	var alone []number
	stray, count := cmp.Or(t.stray, t.open), len(t.numbers)
	for i := 0; i < count; i++ {
		a := t.numbers[i]
		if i+1 == count || t.numbers[i+1].separator == "" {
			alone = append(alone, a)
			continue
		}
		i++
		scores = append(scores, ladder.Score{A: value(a.text), B: value(t.numbers[i].text)})
		stray = cmp.Or(stray, a.separator) // between two scores
	}
	switch {
	case count == 0:
		return nil, formError(ReasonNoScore, "")
	case count == 3:
		return nil, formError(ReasonThirdNumber, t.numbers[2].text)
	case count > 2*MaxSets:
		return nil, formError(ReasonTooManySets, "")
	case len(alone) == 1:
		return nil, formError(ReasonIncompleteScore, alone[0].text)
	case count%2 != 0:
		return nil, formError(ReasonIncompleteScore, t.numbers[count-1].text)
	case count > 2 && len(alone) > 0:
		return nil, formError(ReasonSeveralScores, t.numbers[2].word)
	case stray != "":
		return nil, formError(ReasonUnexpectedWord, stray)
	case len(alone) > 0:
		scores = []ladder.Score{{A: value(alone[0].text), B: value(alone[1].text)}}
	}
	isMixed := func(s ladder.Score) bool { return s.A/ladder.Half != s.B/ladder.Half }
	if i := slices.IndexFunc(scores, isMixed); i >= 0 { // half a point for one side alone
		return nil, formError(ReasonUnexpectedWord, t.numbers[2*i].word)
	}
	return scores, nil
}

const (
	maxDigits  = 3 // the maximum number of digits in a number of a score
	digits     = "0123456789"
	half       = "½"
	oneTwo     = "1/2" // half a point for each, or 1:2
	dashes     = "-–—−"
	separators = ":：" + dashes
)

// negativeNumber matches a number with a minus sign: a dash that touches it, but no number before
// it.
var negativeNumber = regexp.MustCompile(`(?:^|[^0-9½])([` + dashes + `][0-9]+)`)

// wordFault returns an error if end, which is a word or its last part, contains something that
// cannot be part of a score. word is the word as typed, for the error: "#42" for "42", or "1/2" for
// "1:2".
func wordFault(end, word string) error {
	hasPoint := strings.ContainsAny(end, ".,")
	switch {
	case strings.Contains(end, "@"):
		return formError(ReasonUnknownMention, word)
	case strings.Trim(end, digits+half+separators+".,") != "", hasPoint && !strings.ContainsAny(end, digits):
		return formError(ReasonUnexpectedWord, word)
	case hasPoint:
		return formError(ReasonDecimalNumber, word)
	case !strings.ContainsAny(end, dashes):
		// Skip the regular expression, which is slow.
		return nil
	}
	if negative := negativeNumber.FindStringSubmatch(end); negative != nil {
		return formError(ReasonNegativeNumber, negative[1])
	}
	return nil
}

// value converts digits to a number, and adds ladder.Half for a ½ after them. The number must fit
// an int. An empty text is 0.
func value(digits string) int {
	whole, isHalf := strings.CutSuffix(digits, half)
	n, _ := strconv.Atoi(whole)
	if isHalf {
		n += ladder.Half
	}
	return n
}

// fractions matches a score with a half on both sides, written as fractions or decimals: "1/2-1/2",
// "2.5:0.5".
var fractions = regexp.MustCompile(
	`^(?:1/2|([0-9]{1,3})[.,]5)([` + dashes + ":：" + timesSigns + `])(?:1/2|([0-9]{1,3})[.,]5)$`)

// anyDigits matches digits of any script and of keycaps. It also matches digits together with the
// letter before them, which shows that they belong to a name such as "Ali٣".
var anyDigits = regexp.MustCompile(`\pL\p{Nd}+|\p{Nd}+[\x{FE0F}\x{20E3}]*`)

// withASCIIDigits replaces full-width, Arabic and other digits, and keycaps, with 0 to 9, except
// after a letter.
func withASCIIDigits(s string) string {
	return anyDigits.ReplaceAllStringFunc(s, func(match string) string {
		if first, _ := utf8.DecodeRuneInString(match); unicode.IsLetter(first) {
			return match
		}
		return strings.Map(asciiDigit, match)
	})
}

// asciiDigit returns the ASCII digit for a digit of any script, and -1 for any other rune. Unicode
// arranges digits in blocks of ten.
func asciiDigit(r rune) rune {
	if !unicode.IsDigit(r) {
		return -1
	}
	zero := r
	for unicode.IsDigit(zero - 1) {
		zero--
	}
	return '0' + (r-zero)%10
}

// withoutTieBreak removes the points of a tie-break from the score of a set, as in "7-6(5)". The
// closing bracket may be missing.
func withoutTieBreak(word string) string {
	set, tieBreak, ok := strings.Cut(word, "(")
	if ok && strings.ContainsFunc(set, isSeparator) && isNumber(strings.TrimSuffix(tieBreak, ")")) {
		return set
	}
	return word
}

// isNumber reports whether s consists of one or more ASCII digits.
func isNumber(s string) bool { return s != "" && strings.Trim(s, digits) == "" }

// isPoints reports whether s is not empty and consists of ASCII digits and ½.
func isPoints(s string) bool { return s != "" && strings.Trim(s, digits+half) == "" }

// isDigit reports whether r may be part of a number in a score.
func isDigit(r rune) bool { return '0' <= r && r <= '9' || string(r) == half }

func isSeparator(r rune) bool { return strings.ContainsRune(separators, r) }

func isColon(r rune) bool { return r == ':' || r == '：' }

// isComma reports whether r separates words, or two scores in one word, as in "11:7,9:11" and
// "11:7/9:11".
func isComma(r rune) bool { return strings.ContainsRune(",;/|", r) }

func isBreak(r rune) bool { return isComma(r) || isSpace(r) || string(r) == placeholder }

func startsWithDigit(s string) bool { return strings.TrimLeftFunc(s, isDigit) != s }

func endsWithDigit(s string) bool { return strings.TrimRightFunc(s, isDigit) != s }
