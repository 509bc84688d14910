package command

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxDigits is the length of the longest number in a score.
const maxDigits = 3

// token is a number or a separator of a score.
type token struct {
	text     string
	word     string // the whole word that it is a part of
	isNumber bool
}

// scoreTokens splits what the mentions have left of the arguments into numbers
// and separators. A word that holds anything else is an error.
func scoreTokens(args string) ([]token, error) {
	tokens := make([]token, 0, 3)
	for word := range strings.FieldsFuncSeq(args, isSpace) {
		word = strings.TrimRight(strings.TrimLeft(word, ",;"), ",;.")
		if reason := wordFault(word); reason != "" {
			return nil, formError(reason, word)
		}
		for rest := word; rest != ""; {
			t := firstToken(rest)
			t.word = word
			before, after := word[:len(word)-len(rest)], rest[len(t.text):]
			if isDash(t.text) && startsWithDigit(after) && !endsWithDigit(before) {
				return nil, formError(ReasonNegativeNumber, t.text+firstToken(after).text)
			}
			if t.isNumber && len(t.text) > maxDigits {
				return nil, formError(ReasonScoreTooLarge, t.text)
			}
			tokens = append(tokens, t)
			rest = after
		}
	}
	return tokens, nil
}

// readScore reads two numbers with at most one separator, which is between them.
func readScore(tokens []token) (Score, error) {
	var numbers []token
	var stray string // the first separator that is out of place
	for i, t := range tokens {
		if t.isNumber {
			numbers = append(numbers, t)
			continue
		}
		isBetween := i > 0 && i+1 < len(tokens) && tokens[i-1].isNumber && tokens[i+1].isNumber
		if !isBetween && stray == "" {
			stray = t.text
		}
	}
	switch {
	case len(numbers) == 0:
		return Score{}, formError(ReasonNoScore, "")
	case len(numbers) == 1:
		return Score{}, formError(ReasonIncompleteScore, numbers[0].text)
	case len(numbers) == 3:
		return Score{}, formError(ReasonThirdNumber, numbers[2].text)
	case len(numbers) > 3:
		return Score{}, formError(ReasonSeveralScores, numbers[2].word)
	case stray != "":
		return Score{}, formError(ReasonUnexpectedWord, stray)
	}
	return Score{A: numbers[0].value(), B: numbers[1].value()}, nil
}

// wordFault says why a word cannot be part of a score, or nothing if it can.
func wordFault(word string) Reason {
	var digits, separators, points, foreign, at, others int
	for _, r := range word {
		switch {
		case isDigit(r):
			digits++
		case isColon(r), isDashRune(r):
			separators++
		case r == '.', r == ',':
			points++
		case r == '@':
			at++
		case unicode.IsNumber(r), unicode.IsMark(r): // a mark makes a keycap of a digit
			foreign++
		default:
			others++
		}
	}
	switch {
	case at > 0:
		return ReasonUnknownMention
	case others > 0, points > 0 && digits == 0:
		return ReasonUnexpectedWord
	case foreign > 0:
		return ReasonForeignDigits
	case points > 0 && separators > 1: // 11:7,9:11
		return ReasonSeveralScores
	case points > 0:
		return ReasonDecimalNumber
	}
	return ""
}

// firstToken returns the number or the separator that s begins with; s must not
// be empty.
func firstToken(s string) token {
	digits := len(s) - len(strings.TrimLeftFunc(s, isDigit))
	if digits > 0 {
		return token{text: s[:digits], isNumber: true}
	}
	_, size := utf8.DecodeRuneInString(s)
	return token{text: s[:size]}
}

// value is the number that t writes, which has at most maxDigits digits.
func (t token) value() int {
	n := 0
	for _, digit := range []byte(t.text) {
		n = 10*n + int(digit-'0')
	}
	return n
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

func isColon(r rune) bool { return r == ':' || r == '：' }

func isDashRune(r rune) bool { return r == '-' || r == '–' || r == '—' || r == '−' }

func isDash(s string) bool {
	r, size := utf8.DecodeRuneInString(s)
	return size == len(s) && isDashRune(r)
}

func startsWithDigit(s string) bool { return s != "" && isDigit(rune(s[0])) }

func endsWithDigit(s string) bool { return s != "" && isDigit(rune(s[len(s)-1])) }
