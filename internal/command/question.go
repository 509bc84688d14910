package command

import (
	"slices"
	"strings"
	"unicode"
)

// Question is what a question such as /ranking asks for, beyond what it shows without arguments.
type Question struct {
	Who     Person // whose standing is asked for, nobody if none is named; if it is a plain name, it may be nobody's
	Number  int    // the number of a page or of places, 0 if none is given
	All     bool   // all players are asked for
	Month   bool   // the current month is asked for
	Unknown string // what cannot be understood, or empty
}

// allWords are the words for everybody, in all languages of the bot.
var allWords = wordSet(`all everyone everybody alle todos todas все всех усі всі усіх всіх`)

// monthWords are the words for a month, in all languages of the bot.
var monthWords = wordSet(`month monat mes mês месяц місяць`)

// ParseQuestion reads the arguments of /ranking, /matches, /history and /records: a person, a month, a number, a word such as "all".
func ParseQuestion(c Command) (q Question) {
	if len(c.Mentions) > 0 {
		return Question{Who: c.Mentions[0]}
	}
	words := fields(c.Args)
	words = words[:min(len(words), 3)]
	for i := range words {
		words[i] = strings.TrimLeft(words[i], "@#")
	}
	others := slices.DeleteFunc(slices.Clone(words), func(word string) bool { return allWords[strings.ToLower(word)] })
	q.All = len(others)+1 == len(words)
	switch {
	case len(words) == 0, q.All && len(others) == 0:
	case len(words) == 1 && monthWords[strings.ToLower(words[0])]:
		q.Month = true
	case len(others) == 1 && isNumber(others[0]) && len(others[0]) <= maxNumberDigits:
		q.Number = value(others[0])
	case strings.ContainsFunc(strings.Join(others, ""), unicode.IsLetter):
		return Question{Who: Person{Name: strings.Join(words, " ")}}
	default:
		return Question{Unknown: strings.Join(words, " ")}
	}
	return q
}
