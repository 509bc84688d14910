package command

import (
	"slices"
)

// NamesTeams is true if the arguments of /match, even malformed ones, are about teams: they mention more than two people, or contain a
// versus.
func (c Command) NamesTeams() bool {
	if len(c.Mentions) > 2 {
		return true
	}
	for rest := c.Args; rest != ""; {
		var word string
		word, rest = cutWord(rest)
		if meaningOf(word) == versus {
			return true
		}
	}
	return false
}

// boundary returns how many people are on the first side. ok is false if no word says so.
func (l line) boundary() (at int, ok bool, err error) {
	marks := l.versus
	if len(marks) == 0 || l.isObjectFirst() {
		marks = nil
		for _, claim := range l.claims {
			if 0 < claim.at && claim.at < len(l.people) {
				marks = append(marks, claim)
			}
		}
	}
	if len(marks) == 0 && l.winnersOnly() {
		return 0, false, formError(ReasonEmptySide, "")
	}
	if len(marks) == 0 {
		at, ok = l.scoreBetween()
		return at, ok, nil
	}
	if len(marks) > 1 {
		if l.hasThreeSides() {
			return 0, false, formError(ReasonFreeForAll, "")
		}
		return 0, false, formError(ReasonUnexpectedWord, marks[1].word)
	}
	return marks[0].at, true, nil
}

// isObjectFirst is true if the versus is a preposition of the first of two people, about whom the sentence goes on: "gegen @bob hat @carol
// 3:1 gewonnen".
func (l line) isObjectFirst() bool {
	return len(l.people) == 2 && !l.isJoined && l.versus[0].at == 0 && len(l.claims) > 0 && l.claims[0].at > 0
}

// winnersOnly is true if a line says what several people did, without the others: "@a y @b ganaron 10:8".
func (l line) winnersOnly() bool {
	return slices.ContainsFunc(l.claims, func(m mark) bool {
		return m.at > 1 && m.at == len(l.people) && m.isOf(several)
	})
}

// hasThreeSides is true if several words separate sides, each of them other people: "@a vs @b vs @c". A dash may as well join the names of
// a team.
func (l line) hasThreeSides() bool {
	for i, m := range l.versus {
		if isDash(m.word) || isColonWord(m.word) || m.at == len(l.people) || i > 0 && m.at == l.versus[i-1].at {
			return false
		}
	}
	return len(l.versus) > 1
}

// scoreBetween returns where the scores stand between two equally large teams, or the first of two numbers if the other one stands behind
// the second team, as in "@a @b 10 @c @d 8".
func (l line) scoreBetween() (at int, ok bool) {
	numbers := l.scores.numbers
	if len(l.people) < 4 || len(numbers) < 2 || 2*numbers[0].at != len(l.people) {
		return 0, false
	}
	at = numbers[0].at
	isBetween := !slices.ContainsFunc(numbers, func(n number) bool { return n.at != at })
	return at, isBetween || len(numbers) == 2 && numbers[1].at == len(l.people)
}

// players returns the match without its scores. Mentions take precedence over the reply.
func (p parser) players(l line) (Match, error) {
	at, divided, err := l.boundary()
	if err != nil {
		return Match{}, err
	}
	switch onlySender := len(l.people) == 1 && l.names && !l.claimsOfSender(); {
	case divided:
	case onlySender && p.replied.isKnown():
		at, divided = 1, true
		l.people = append(l.people, p.replied)
	default:
		at = max(0, len(l.people)-1) // the last person is the second side
	}
	a, b := l.people[:at], l.people[at:]
	self := false
	switch {
	case l.names && !p.senderPlays():
		return Match{}, formError(ReasonNameBothPlayers, "")
	case !divided && len(l.people) > 2, !divided && len(l.people) == 2 && l.claimsOfSender() && !l.names:
		return Match{}, formError(ReasonNoVersus, "")
	case len(a) > MaxTeam:
		return Match{}, formError(ReasonTooManyPeople, a[MaxTeam].label())
	case len(b) > MaxTeam:
		return Match{}, formError(ReasonTooManyPeople, b[MaxTeam].label())
	case len(a) > 0 && len(b) > 0:
	case divided && (!p.senderPlays() || len(b) != 1):
		return Match{}, formError(ReasonEmptySide, "")
	case !p.senderPlays():
		return Match{}, formError(ReasonNameBothPlayers, "")
	case len(b) == 0 && !p.replied.isKnown():
		return Match{}, formError(ReasonNoOpponent, "")
	default:
		self = true
	}
	people := make([]Person, 0, max(2, len(l.people)))
	if self {
		people = append(people, p.sender)
	}
	people = append(people, l.people...)
	if len(people) == 1 {
		people = append(people, p.replied)
	}
	if err := checkPeople(people); err != nil {
		return Match{}, err
	}
	first := max(1, len(a))
	return Match{A: people[:first:first], B: people[first:], Self: self, Past: l.isPast}, nil
}

// withSender returns a line in which the sender is named who plays with somebody: "mit @carol gegen @bob und @dave gewonnen".
func (p parser) withSender(l line) line {
	at := slices.IndexFunc(l.roles, func(m mark) bool { return m.meaning == with && m.at == 0 })
	isBetween := func(m mark) bool {
		return 0 < m.at && m.at < len(l.people) && (m.meaning == versus || over <= m.meaning && m.meaning <= to)
	}
	if at < 0 || l.names || !slices.ContainsFunc(slices.Concat(l.versus, l.roles), isBetween) {
		return l
	}
	place := l.roles[at].place
	behind := func(marks []mark) []mark {
		marks = slices.Clone(marks)
		for i := range marks {
			if marks[i].place >= place {
				marks[i].at++
			}
		}
		return marks
	}
	l.versus, l.claims = behind(l.versus), behind(l.claims)
	l.roles = slices.Insert(behind(l.roles), at, mark{word: "i", meaning: me, place: place})
	l.people, l.names = append([]Person{p.sender}, l.people...), true
	return l
}

// claimsOfSender is true if the report begins by saying that somebody unnamed won or lost.
func (l line) claimsOfSender() bool {
	return slices.ContainsFunc(l.claims, func(m mark) bool {
		return m.at == 0 && (isCommand(m.word) && m.meaning != drew || m.isOf(own, anybody) && !isSlavicVerb(m.word))
	})
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
