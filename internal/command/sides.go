package command

import "slices"

// NamesTeams reports whether the arguments of /match, even malformed ones, may be about teams: they
// have more than two mentions, or a versus.
func (c Command) NamesTeams() bool {
	return len(c.Mentions) > 2 || slices.ContainsFunc(c.text().words(), func(w word) bool { return w.meaning == versus })
}

// boundary returns how many people are on the first side. ok is false if nothing separates the
// sides.
func (l line) boundary() (at int, ok bool, err error) {
	words := l.all(versus)
	if len(words) == 0 || l.isObjectFirst() {
		words = slices.DeleteFunc(l.claims(), func(p piece) bool { return p.at == 0 || p.at == len(l.people) })
	}
	switch {
	case len(words) == 1:
		return words[0].at, true, nil
	case len(words) == 0 && l.winnersOnly():
		return 0, false, formError(ReasonEmptySide, "")
	case len(words) == 0:
		// In "@a+@b @c+@d", "and" joins all neighbors except for one pair.
		if at, ok = l.scoreBetween(); !ok && len(l.joined) == len(l.people)-2 {
			at = 1
			for slices.Contains(l.joined, at) {
				at++
			}
			ok = at > 1 && at < len(l.people)-1
		}
		return at, ok, nil
	case l.hasThreeSides():
		return 0, false, formError(ReasonFreeForAll, "")
	default:
		return 0, false, formError(ReasonUnexpectedWord, words[1].string)
	}
}

// isObjectFirst reports whether the versus precedes the first of two people and a word about the
// outcome follows that person: "gegen @bob hat @carol 3:1 gewonnen".
func (l line) isObjectFirst() bool {
	claims := l.claims()
	return len(l.people) == 2 && len(l.joined) == 0 && l.all(versus)[0].at == 0 && len(claims) > 0 && claims[0].at > 0
}

// winnersOnly reports whether a line names several people as one side and no opponents:
// "@a y @b ganaron 10:8".
func (l line) winnersOnly() bool {
	return slices.ContainsFunc(l.claims(),
		func(p piece) bool { return p.at > 1 && p.at == len(l.people) && p.isOf(several) })
}

// hasThreeSides reports whether several versus words separate sides, as in "@a vs @b vs @c". It is
// false if one of the words is a sign, because a dash may also join the names of a team.
func (l line) hasThreeSides() bool {
	words := l.all(versus)
	for i, p := range words {
		if isSign(p.string) || p.at == len(l.people) || i > 0 && p.at == words[i-1].at {
			return false
		}
	}
	return len(words) > 1
}

// scoreBetween returns how many people precede the scores that separate two teams of equal size, as
// in "@a @b 10:8 @c @d" and "@a @b 10 @c @d 8".
func (l line) scoreBetween() (at int, ok bool) {
	numbers := l.scores.numbers
	if len(l.people) < 4 || len(numbers) < 2 || 2*numbers[0].at != len(l.people) {
		return 0, false
	}
	at = numbers[0].at
	isBetween := !slices.ContainsFunc(numbers, func(n number) bool { return n.at != at })
	return at, isBetween || len(numbers) == 2 && numbers[1].at == len(l.people)
}

// players returns the match without its scores. It uses the author of the replied-to message only
// if the line lacks a person.
func (p parser) players(l line) (Match, error) {
	at, divided, err := l.boundary()
	if err != nil {
		return Match{}, err
	}
	switch onlySender := len(l.people) == 1 && l.names && !l.isOfUnnamed(); {
	case divided:
	case onlySender && p.replied.isKnown():
		at, divided = 1, true
		l.people = append(l.people, p.replied)
	default:
		at = max(0, len(l.people)-1) // the last person is the second side
	}
	a, b := l.people[:at], l.people[at:]
	self := len(a) == 0 || len(b) == 0
	switch {
	case l.names && !p.senderPlays():
		return Match{}, formError(ReasonNameBothPlayers, "")
	case !divided && len(l.people) > 2, !divided && len(l.people) == 2 && l.isOfUnnamed() && !l.names:
		return Match{}, formError(ReasonNoVersus, "")
	case len(a) > MaxTeam:
		return Match{}, formError(ReasonTooManyPeople, a[MaxTeam].label())
	case len(b) > MaxTeam:
		return Match{}, formError(ReasonTooManyPeople, b[MaxTeam].label())
	case !self:
	case divided && (!p.senderPlays() || len(b) != 1):
		return Match{}, formError(ReasonEmptySide, "")
	case !p.senderPlays():
		return Match{}, formError(ReasonNameBothPlayers, "")
	case len(l.people) == 1 && l.people[0].IsSame(p.sender):
		return Match{}, formError(ReasonOnlyYourself, "")
	case len(b) == 0 && !p.replied.isKnown():
		return Match{}, formError(ReasonNoOpponent, "")
	}
	people := slices.Clone(l.people)
	if self {
		people = slices.Insert(people, 0, p.sender)
	}
	if len(people) == 1 {
		people = append(people, p.replied)
	}
	if err := checkPeople(people); err != nil {
		return Match{}, err
	}
	first := max(1, len(a))
	m := Match{Self: self, When: When{Past: l.isPast}}
	m.A, m.StandIns[0] = withoutStandIns(people[:first])
	m.B, m.StandIns[1] = withoutStandIns(people[first:])
	switch {
	case len(m.A) == 0, len(m.B) == 0:
		return Match{}, formError(ReasonNamelessGuest, "")
	case m.StandIns[0]+m.StandIns[1] > MaxStandIns:
		return Match{}, formError(ReasonTooManyStandIns, "")
	}
	return m, nil
}

// withoutStandIns returns the people of a side who are not stand-ins, and the number of stand-ins.
func withoutStandIns(side []Person) (people []Person, standIns int) {
	people = slices.DeleteFunc(slices.Clone(side), func(p Person) bool { return p.IsStandIn })
	return people, len(side) - len(people)
}

// size returns the number of people who play, including stand-ins.
func (m Match) size() int { return len(m.A) + len(m.B) + m.StandIns[0] + m.StandIns[1] }

// IsEven reports whether the sides have the same size, including stand-ins.
func (m Match) IsEven() bool { return len(m.A)+m.StandIns[0] == len(m.B)+m.StandIns[1] }

// isOfUnnamed reports whether the report begins with an outcome whose subject is not named.
func (l line) isOfUnnamed() bool {
	return l.said == won || l.said == lost || slices.ContainsFunc(l.claims(), func(p piece) bool {
		return p.at == 0 && p.isOf(own, anybody) && !p.verbs[0].isSlavic()
	})
}

// checkPeople fails if a player is a bot or is named twice.
func checkPeople(people []Person) error {
	if at := slices.IndexFunc(people, func(p Person) bool { return p.IsBot }); at >= 0 {
		return formError(ReasonBot, people[at].label())
	}
	for i, p := range people {
		if slices.ContainsFunc(people[:i], p.IsSame) {
			return formError(ReasonSamePerson, p.label())
		}
	}
	return nil
}
