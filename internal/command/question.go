package command

import "strings"

// Question is what /ranking or /me asks for, beyond what they show without arguments.
type Question struct {
	// Who is the person whose standing is asked for, nobody if none is named.
	Who Person
	// Number is the number of a page or of places, 0 if none is given.
	Number int
}

// ParseQuestion reads the arguments of /ranking and /me: a person, named by a
// mention or by a plain username, or a number. All else asks for nothing in
// particular: what the commands show without arguments answers it best.
func ParseQuestion(c Command) (q Question) {
	if len(c.Mentions) > 0 {
		return Question{Who: c.Mentions[0]}
	}
	word, rest := cutWord(c.Args)
	word = strings.TrimLeft(word, "@#")
	switch next, _ := cutWord(rest); {
	case next != "" || !isWord(word) || len(word) > maxUsername:
	case !isNumber(word):
		q.Who.Username = word
	case len(word) <= maxNumberDigits:
		q.Number = value(word)
	}
	return q
}
