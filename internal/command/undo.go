package command

import (
	"cmp"
	"strings"
)

// maxNumberDigits is the length of the longest number that a match may have.
const maxNumberDigits = 9

// ParseUndo reads the arguments of /undo: the number of a match, or nothing,
// which makes it zero. Every error is a *FormError.
func ParseUndo(c Command) (number int, err error) {
	if len(c.Mentions) > 0 {
		return 0, formError(ReasonUnexpectedWord, c.Mentions[0].label())
	}
	word, rest := cutWord(c.Args)
	if word == "" {
		return 0, nil
	}
	number, err = matchNumber(word)
	if err != nil {
		return 0, err
	}
	if word, _ = cutWord(rest); word != "" {
		return 0, formError(cmp.Or(wordFault(word), ReasonUnexpectedWord), word)
	}
	return number, nil
}

// matchNumber reads the number of a match, with or without a # before it.
func matchNumber(word string) (int, error) {
	digits := strings.TrimPrefix(word, "#")
	if reason := wordFault(digits); reason != "" {
		return 0, formError(reason, word)
	}
	if negative := negativeNumber("", digits); negative != "" {
		return 0, formError(ReasonNegativeNumber, negative)
	}
	if !isNumber(digits) {
		return 0, formError(ReasonUnexpectedWord, word)
	}
	if len(digits) > maxNumberDigits || value(digits) == 0 {
		return 0, formError(ReasonNoSuchNumber, digits)
	}
	return value(digits), nil
}
