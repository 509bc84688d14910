package command

import (
	"errors"
	"slices"
)

// The numbers of people that /teams divides.
const (
	MinPlayers = 4
	MaxPlayers = 2 * MaxTeam
)

// ParseSides reads who plays against whom without a score, as in "@bob", "@alice @bob" and "@alice @bob vs @carol @dave". sender, reply and
// names are those of ParseMatch, and so are the people that it returns. Every error is a *FormError or a *NameError.
func ParseSides(c Command, sender Person, reply *Person, names *Names) (a, b []Person, err error) {
	p := parser{sender: sender}
	if reply != nil {
		p.replied = *reply
	}
	err = p.lineup(c, names, func(l line) error {
		m, err := p.players(l)
		a, b = m.A, m.B
		return err
	})
	return a, b, err
}

// ParsePlayers reads from MinPlayers to MaxPlayers people, in the order in which they are named. sender and names are those of ParseMatch.
// Every error is a *FormError or a *NameError.
func ParsePlayers(c Command, sender Person, names *Names) (people []Person, err error) {
	p := parser{sender: sender}
	err = p.lineup(c, names, func(l line) error {
		switch count := len(l.people); {
		case len(l.versus) > 0:
			return formError(ReasonUnexpectedWord, l.versus[0].word)
		case l.names && !p.senderPlays(), count < MinPlayers, count > MaxPlayers:
			return formError(ReasonPlayers, "")
		}
		people = slices.Clone(l.people)
		return checkPeople(people)
	})
	if err != nil {
		return nil, err
	}
	return people, nil
}

// lineup reads the people in a command, and calls use with them. A word that is a name and has another meaning too is a name only if the
// command is malformed without it.
func (p parser) lineup(c Command, names *Names, use func(line) error) error {
	if names == nil {
		names = new(Names)
	}
	found := names.find(c, true)
	err := p.lineupOf(c, names, found, false, use)
	isOptional := func(n plainName) bool { return n.isOptional }
	if err != nil && slices.ContainsFunc(found, isOptional) && p.lineupOf(c, names, found, true, use) == nil {
		return nil
	}
	return err
}

// lineupOf reads the people in a command, with the names that were found in it. Those with another meaning are used only if optional is
// true.
func (p parser) lineupOf(c Command, names *Names, found []plainName, optional bool, use func(line) error) error {
	found, picked := slices.Clone(found), names.picked
	choice := make([]int, len(found))
	for i, n := range found {
		if n.isOptional && !optional {
			choice[i] = -1
			continue
		}
		person, rest, err := names.resolve(n, picked)
		if err != nil {
			return err
		}
		found[i].people, picked = []Person{person}, rest
	}
	l, err := p.line(c.naming(found, choice))
	switch form := (*FormError)(nil); {
	case errors.As(err, &form) && form.Reason != ReasonUnknownMention: // what is no person may look like part of a score
		return formError(ReasonUnexpectedWord, form.Detail)
	case err != nil:
		return err
	case len(l.scores.numbers) > 0:
		return formError(ReasonUnexpectedWord, l.scores.numbers[0].word)
	case len(l.claims) > 0:
		return formError(ReasonUnexpectedWord, l.claims[0].word)
	}
	return use(l)
}

// ParseScores reads the scores of a match whose sides are known: those of the first side come first, unless words say otherwise. Every
// error is a *FormError.
func ParseScores(c Command) ([]Score, error) {
	if len(c.Mentions) > 0 {
		return nil, formError(ReasonUnexpectedWord, c.Mentions[0].label())
	}
	first, second := Person{UserID: -1}, Person{UserID: -2} // nobody has such an id
	c.Args, c.Mentions, c.MentionOffsets = "  "+c.Args, []Person{first, second}, []int{0, 1}
	report, err := parser{}.parse(c)
	if err != nil {
		return nil, err
	}
	m, err := Certain(report)
	switch {
	case err != nil:
		return nil, err
	case m.A[0] == first:
		return m.Scores, nil
	}
	swapped := make([]Score, len(m.Scores))
	for i, s := range m.Scores {
		swapped[i] = Score{s.B, s.A}
	}
	return swapped, nil
}
