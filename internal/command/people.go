package command

import (
	"cmp"
	"errors"
	"slices"
	"strings"
)

// NameError is the error for a name that is ambiguous or unknown.
type NameError struct {
	Word string // as typed
	// People have the name if Several is set; otherwise they have similar names.
	People  []Person
	Several bool
}

// Error implements error.
func (e *NameError) Error() string { return "it is not clear whom a name means" }

// ParsePeople returns the people a question is about, in order: mentioned people, players meant by
// name, and the sender for a word such as "me". If the question names no one, it returns the author
// of the replied-to message, if any. It ignores numbers, words with a meaning in reports, and words
// such as "twice". Any other word is an unknown name. names may be nil, as in ParseMatch. Every
// error is a *NameError.
func ParsePeople(c Command, names *Names) ([]Person, error) {
	names = cmp.Or(names, new(Names))
	p := newParser(c)
	t, err := p.resolve(c.text(), names, func(n plainName) bool { return !meaningOf(n.word).isSender() })
	if err != nil {
		return nil, err
	}
	var people []Person
	for _, w := range t.words() {
		// A word still has its @ if it is neither a mention nor a player's name, or if it means the
		// sender. A question cannot be about a stand-in.
		name, isUnknown := strings.CutPrefix(w.string, "@")
		if isUnknown && name != "" || w.meaning.isStandIn() {
			return nil, &NameError{Word: name, People: names.near(foldName(name))}
		}
		if w.isPerson() {
			people = append(people, p.personOf(w))
		}
	}
	if people == nil && c.Reply != nil {
		people = []Person{*c.Reply}
	}
	return people, nil
}

// resolve replaces the names that uses selects with the people they mean, and leaves the other
// names in the text. It fails with a *NameError if no one or more than one person has a selected
// name, and the sender has not yet picked one of the suggested people.
func (p parser) resolve(t text, names *Names, uses func(plainName) bool) (text, error) {
	found, picked := names.find(t, true), p.picked
	for i := range found {
		name := &found[i]
		if !uses(*name) {
			continue
		}
		maybe := name.people
		if len(maybe) == 0 {
			maybe = names.near(foldName(name.word))
		}
		isPicked := func(one Person) bool { return len(picked) > 0 && one.Player == picked[0] }
		switch at := slices.IndexFunc(maybe, isPicked); {
		case len(name.people) == 1:
		case at >= 0:
			name.people, picked = maybe[at:at+1], picked[1:]
		default:
			return text{}, &NameError{Word: name.word, People: maybe, Several: len(name.people) > 1}
		}
	}
	return t.with(slices.DeleteFunc(found, func(name plainName) bool { return !uses(name) })), nil
}

// The limits on how many people /teams divides.
const (
	MinPlayers = 4           // two teams of two
	MaxPlayers = 2 * MaxTeam // two full sides of a match
)

// ParseSides reads a match without its score: who plays whom, as in "@bob", "@alice @bob" and
// "@alice @bob vs @carol @dave", and when. names and the returned people mean the same as in
// ParseMatch. Every error is a *FormError or a *NameError.
func ParseSides(c Command, names *Names) (m Match, err error) {
	p := newParser(c)
	t, day, _, _ := c.text().withoutDates(names)
	err = p.lineup(t, names, func(l line) (err error) {
		m, err = p.players(l)
		return err
	})
	m.Day = day
	return m, err
}

// ParsePlayers reads MinPlayers to MaxPlayers people, in order. names means the same as in
// ParseMatch. Every error is a *FormError or a *NameError.
func ParsePlayers(c Command, names *Names) (people []Person, err error) {
	c.Reply = nil // the author of the replied-to message takes part only if named
	p := newParser(c)
	err = p.lineup(c.text(), names, func(l line) error {
		standIn := slices.IndexFunc(l.people, func(p Person) bool { return p.IsStandIn })
		switch count := len(l.people); {
		case standIn >= 0:
			return formError(ReasonUnexpectedWord, l.people[standIn].Name)
		case len(l.all(versus)) > 0:
			return formError(ReasonUnexpectedWord, l.all(versus)[0].string)
		case l.names && !p.senderPlays(), count < MinPlayers, count > MaxPlayers:
			return formError(ReasonPlayers, "")
		}
		people = slices.Clone(l.people)
		return checkPeople(people)
	})
	return people, err
}

// lineup calls use with the people in a text. If that fails, it tries again, this time also reading
// words with another meaning as names. If both attempts fail, it returns the first error.
func (p parser) lineup(t text, names *Names, use func(line) error) error {
	names = cmp.Or(names, new(Names))
	err := p.lineupOf(t, names, func(n plainName) bool { return !n.isOptional }, use)
	if err != nil && p.lineupOf(t, names, func(plainName) bool { return true }, use) == nil {
		return nil
	}
	return err
}

// lineupOf calls use with the people in a text. It reads only the names that uses selects as
// people. It fails if the text has a score or states an outcome.
func (p parser) lineupOf(t text, names *Names, uses func(plainName) bool, use func(line) error) error {
	t, err := p.resolve(t, names, uses)
	if err != nil {
		return err
	}
	l, err := p.line(t)
	switch form := (*FormError)(nil); {
	case errors.As(err, &form) && form.Reason != ReasonUnknownMention:
		// A word that is not a person may look like part of a score.
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
