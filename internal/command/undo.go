package command

import (
	"cmp"
	"strings"
)

// maxNumberDigits is the maximum number of digits of a match number.
const maxNumberDigits = 9

// ParseNumber reads the arguments of /undo and /restore: the number of a match, 0 if none is given. Every error is a *FormError.
func ParseNumber(c Command) (number int, err error) {
	words := fields(c.Args)
	switch {
	case len(c.Mentions) > 0:
		return 0, formError(ReasonUnexpectedWord, c.Mentions[0].label())
	case len(words) == 0:
		return 0, nil
	}
	number, err = matchNumber(words[0])
	if err == nil && len(words) > 1 {
		return 0, cmp.Or(wordFault(words[1], words[1]), formError(ReasonUnexpectedWord, words[1]))
	}
	return number, err
}

// matchNumber reads the number of a match, with or without a leading #.
func matchNumber(word string) (int, error) {
	digits := strings.TrimPrefix(word, "#")
	switch err := wordFault(digits, word); {
	case err != nil:
		return 0, err
	case !isNumber(digits):
		return 0, formError(ReasonUnexpectedWord, word)
	case len(digits) > maxNumberDigits || value(digits) == 0:
		return 0, formError(ReasonNoSuchNumber, digits)
	}
	return value(digits), nil
}
