package command

import "strings"

const (
	// MaxSets is the maximum number of scores in a match.
	MaxSets = 25
	// MaxTeam is the maximum number of people on one side of a match.
	MaxTeam = 10
)

// Match is a reported result. Each side has at least one person. All people are
// different, and none of them is a bot.
type Match struct {
	A, B   []Person
	Self   bool    // A is the sender alone, without being mentioned
	Scores []Score // one, or the sets in the order in which they were played
}

// Score is the score of a match or a set: the points of A and B, each from 0 to 999.
type Score struct{ A, B int }

// ParseMatch reads the arguments of /match. sender is the zero Person if unknown
// (an anonymous admin). reply is the author of the message replied to, nil if
// there is none; its IsBot must be set for bots, including this one. A mention of
// the sender or of the author yields that Person. Every error is a *FormError.
func ParseMatch(c Command, sender Person, reply *Person) (Match, error) {
	if c.Args == "" && len(c.Mentions) == 0 {
		return Match{}, formError(ReasonEmpty, "")
	}
	// Report malformed words first: they explain why a person is missing.
	text := scoreText{numbers: make([]number, 0, 2)}
	versus := 0 // end of the word between the sides, in bytes
	for rest := c.Args; rest != ""; {
		var word string
		word, rest = cutWord(rest)
		if versus == 0 && isVersus(word) {
			versus = len(c.Args) - len(rest)
			continue
		}
		if isAnd(word) {
			continue
		}
		if err := text.add(word); err != nil {
			return Match{}, err
		}
	}
	var replied Person
	if reply != nil {
		replied = *reply
	}
	m, err := players(c, versus, sender, replied)
	if err != nil {
		return Match{}, err
	}
	m.Scores, err = text.scores()
	if err != nil {
		return Match{}, err
	}
	return m, nil
}

// isVersus reports whether a word separates the two sides of a match.
func isVersus(word string) bool {
	switch strings.ToLower(word) {
	case "v", "vs", "versus":
		return true
	}
	return false
}

// isAnd reports whether a word joins the people of a side. It has no effect:
// mentions need no separator.
func isAnd(word string) bool {
	return word == "&" || word == "+" || strings.ToLower(word) == "and"
}

// NamesTeams reports whether the arguments of /match, even malformed ones, are
// about teams: they mention more than two people, or contain a versus.
func (c Command) NamesTeams() bool {
	if len(c.Mentions) > 2 {
		return true
	}
	for rest := c.Args; rest != ""; {
		var word string
		word, rest = cutWord(rest)
		if isVersus(word) {
			return true
		}
	}
	return false
}

// players returns the match without its scores. versus is the end of the word
// between the sides, 0 if there is none. Mentions take precedence over the reply.
func players(c Command, versus int, sender, replied Person) (Match, error) {
	a, b := sides(c, versus)
	senderPlays := sender.isKnown() && !sender.IsBot
	self := false
	switch {
	case versus == 0 && len(c.Mentions) > 2:
		return Match{}, formError(ReasonNoVersus, "")
	case len(a) > MaxTeam:
		return Match{}, formError(ReasonTooManyPeople, a[MaxTeam].label())
	case len(b) > MaxTeam:
		return Match{}, formError(ReasonTooManyPeople, b[MaxTeam].label())
	case len(a) > 0 && len(b) > 0:
	case versus > 0 && (!senderPlays || len(b) != 1):
		return Match{}, formError(ReasonEmptySide, "")
	case !senderPlays:
		return Match{}, formError(ReasonNameBothPlayers, "")
	case len(b) == 0 && !replied.isKnown():
		return Match{}, formError(ReasonNoOpponent, "")
	default:
		self = true
	}
	people := make([]Person, 0, max(2, len(c.Mentions)))
	if self {
		people = append(people, sender)
	}
	for _, p := range c.Mentions {
		people = append(people, p.identify(sender).identify(replied))
	}
	if len(people) == 1 {
		people = append(people, replied)
	}
	if err := checkPeople(people); err != nil {
		return Match{}, err
	}
	first := max(1, len(a))
	return Match{A: people[:first:first], B: people[first:], Self: self}, nil
}

// sides divides the mentions at the word that ends at versus. Without a versus,
// the last mention is the second side.
func sides(c Command, versus int) (a, b []Person) {
	first := max(0, len(c.Mentions)-1)
	if versus > 0 {
		first = c.mentionsBefore(versus)
	}
	return c.Mentions[:first], c.Mentions[first:]
}

// checkPeople fails if a player is a bot or is named twice.
func checkPeople(people []Person) error {
	for _, p := range people {
		if p.IsBot {
			return formError(ReasonBot, p.label())
		}
	}
	for i, p := range people {
		for _, other := range people[:i] {
			if p.isSame(other) {
				return formError(ReasonSamePerson, p.label())
			}
		}
	}
	return nil
}
