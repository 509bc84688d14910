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
	p := newParser(c, sender, reply)
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
	p := newParser(c, sender, nil)
	err = p.lineup(c, names, func(l line) error {
		switch count := len(l.people); {
		case len(l.all(versus)) > 0:
			return formError(ReasonUnexpectedWord, l.all(versus)[0].string)
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

// lineup calls use with the people in a command. A word with another meaning is a name only if the command is malformed without it.
func (p parser) lineup(c Command, names *Names, use func(line) error) error {
	if names == nil {
		names = new(Names)
	}
	err := p.lineupOf(c.text(), names, func(n plainName) bool { return !n.isOptional }, use)
	if err != nil && p.lineupOf(c.text(), names, func(plainName) bool { return true }, use) == nil {
		return nil
	}
	return err
}

// lineupOf reads the people in a text with the names that it uses.
func (p parser) lineupOf(t text, names *Names, uses func(plainName) bool, use func(line) error) error {
	t, err := names.resolve(t, uses)
	if err != nil {
		return err
	}
	l, err := p.line(t)
	switch form := (*FormError)(nil); {
	case errors.As(err, &form) && form.Reason != ReasonUnknownMention: // what is no person may look like part of a score
		return formError(ReasonUnexpectedWord, form.Detail)
	case err != nil:
		return err
	case len(l.scores.numbers) > 0:
		return formError(ReasonUnexpectedWord, l.scores.numbers[0].word)
	case len(l.claims()) > 0:
		return formError(ReasonUnexpectedWord, l.claims()[0].string)
	}
	return use(l)
}

// ParseScores reads the scores of a match with known sides, those of the first side first. Every error is a *FormError.
func ParseScores(c Command) ([]Score, error) {
	if len(c.Mentions) > 0 {
		return nil, formError(ReasonUnexpectedWord, c.Mentions[0].label())
	}
	first, second := Person{UserID: -1}, Person{UserID: -2} // nobody has such an id
	report, err := parser{}.parse(text{placeholder + placeholder + c.Args, []Person{first, second}})
	if err != nil {
		return nil, err
	}
	m, err := Certain(report)
	switch {
	case err != nil:
		return nil, err
	case m.A[0] == first:
		return m.Scores, nil
	default:
		return m.mirrored().Scores, nil
	}
}
