package command

import "strings"

const (
	// MaxSets is the number of scores that a match may have.
	MaxSets = 25
	// MaxTeam is the number of people on one side of a match.
	MaxTeam = 10
)

// Match is a result as a message reports it. The people on its two sides, at
// least one on each, are all different, and none of them is a bot.
type Match struct {
	A, B   []Person
	Self   bool    // A is the sender alone, without being mentioned
	Scores []Score // one, or the sets in the order in which they were played
}

// Score is how a match or a set ended: A's and B's points, each from 0 to 999.
type Score struct{ A, B int }

// ParseMatch reads the arguments of /match. sender is the zero Person if unknown
// (an anonymous admin); reply is the person whose message is replied to, nil if
// there is none; its IsBot must be set for bots, this one included. A mention of
// the sender or of the person replied to yields what is known of them. Every
// error is a *FormError.
func ParseMatch(c Command, sender Person, reply *Person) (Match, error) {
	if c.Args == "" && len(c.Mentions) == 0 {
		return Match{}, formError(ReasonEmpty, "")
	}
	// Words that cannot be read come first: they explain why somebody is missing.
	text := scoreText{numbers: make([]number, 0, 2)}
	versus := 0 // the end of the word between the sides
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

// isVersus reports whether a word stands between the two sides of a match.
func isVersus(word string) bool {
	switch strings.ToLower(word) {
	case "v", "vs", "versus":
		return true
	}
	return false
}

// isAnd reports whether a word joins the people of a side. They are told apart
// without it, so it says nothing.
func isAnd(word string) bool {
	return word == "&" || word == "+" || strings.ToLower(word) == "and"
}

// NamesTeams reports whether the arguments of /match, right or wrong, are about
// sides: there are more people than play without them, or a word between sides.
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

// players finds out who played; the scores are left open. versus is the end of
// the word between the sides, zero if there is none. Mentions win over the reply.
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

// sides divides the mentions at the word that ends at versus. Without one, and
// with too few of them for that, the last one is on the second side.
func sides(c Command, versus int) (a, b []Person) {
	first := max(0, len(c.Mentions)-1)
	if versus > 0 {
		first = c.mentionsBefore(versus)
	}
	return c.Mentions[:first], c.Mentions[first:]
}

// checkPeople makes sure that no player is a bot, and none is named twice.
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
