package command

import (
	"slices"
	"strings"
)

// Question is what /ranking or /me asks for, beyond what they show without arguments.
type Question struct {
	// Who is the person whose standing is asked for, nobody if none is named.
	Who Person
	// Number is the number of a page or of places, 0 if none is given.
	Number int
	// All is true if all players are asked for.
	All bool
}

// allWords are the words for everybody, in all languages of the bot.
var allWords = wordSet(`all everyone everybody alle todos todas все всех усі всі усіх всіх`)

// ParseQuestion reads the arguments of /ranking and /me: a person, named by a mention or by a plain username, or a number, a word such as
// "all", or both. All else asks for nothing in particular: what the commands show without arguments answers it best.
func ParseQuestion(c Command) (q Question) {
	if len(c.Mentions) > 0 {
		return Question{Who: c.Mentions[0]}
	}
	words := questionWords(c.Args)
	for i, word := range words {
		if len(words) <= 2 && allWords[strings.ToLower(word)] {
			q.All, words = true, slices.Delete(words, i, i+1)
			break
		}
	}
	if len(words) == 0 {
		return q
	}
	switch word := words[0]; {
	case len(words) > 1 || !isWord(word) || len(word) > maxUsername:
		return Question{}
	case isNumber(word) && len(word) <= maxNumberDigits:
		q.Number = value(word)
	case isNumber(word) || q.All:
		return Question{}
	default:
		q.Who.Username = word
	}
	return q
}

// questionWords returns the first words of the arguments of a question, three at most.
func questionWords(args string) (words []string) {
	for word, rest := cutWord(args); word != "" && len(words) < 3; word, rest = cutWord(rest) {
		words = append(words, strings.TrimLeft(word, "@#"))
	}
	return words
}
