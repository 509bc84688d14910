package command

import (
	"cmp"
	"slices"
	"strings"
)

// NameError says that it is not clear whom a name means.
type NameError struct {
	Word string // the name as it was typed
	// People are those who have the name if Several is true, and those with similar names otherwise.
	People  []Person
	Several bool
}

// Error implements error.
func (e *NameError) Error() string {
	if e.Several {
		return "several players have the name"
	}
	return "nobody has the name"
}

// ParsePeople reads whom a question is about, in the order in which they are named: people who are mentioned, players who are meant by a
// plain name, and the sender by a word such as "me". If it names nobody, that is the author of the message that it replies to. The words of
// reports, such as "vs", and numbers mean nothing here. The sender is the zero Person if unknown (an anonymous admin), and reply and names
// may be nil, as in ParseMatch. Every error is a *NameError.
func ParsePeople(c Command, sender Person, reply *Person, names *Names) ([]Person, error) {
	if names == nil {
		names = new(Names)
	}
	all := names.mentioned(c)
	slices.SortStableFunc(all, func(a, b namedPerson) int { return cmp.Compare(a.start, b.start) })
	var people []Person
	picked := names.picked
	for _, n := range all {
		if n.isSender {
			people = append(people, sender)
			continue
		}
		p, rest, err := names.resolve(n.plainName, picked)
		if err != nil {
			return nil, err
		}
		if p, picked = p.identify(sender), rest; reply != nil {
			p = p.identify(*reply)
		}
		people = append(people, p)
	}
	if people == nil && reply != nil {
		people = []Person{*reply}
	}
	return people, nil
}

// namedPerson is a place in the arguments of a question where somebody is named.
type namedPerson struct {
	plainName
	isSender bool
}

// mentioned returns where somebody is named in the arguments of a question, in any order.
func (n *Names) mentioned(c Command) []namedPerson {
	var all []namedPerson
	for i, p := range c.Mentions {
		all = append(all, namedPerson{plainName: plainName{start: c.MentionOffsets[i], people: []Person{p}}})
	}
	found := slices.DeleteFunc(n.find(c, true), func(name plainName) bool { return meaningOf(name.word) == me })
	for _, name := range found {
		all = append(all, namedPerson{plainName: name})
	}
	for _, a := range atoms(c.Args) {
		switch {
		case slices.ContainsFunc(found, func(name plainName) bool { return name.start <= a.start && a.end <= name.end }):
		case c.isMarked(a): // nobody is called so
			all = append(all, namedPerson{plainName: n.name(c, []atom{a}, a.start, a.end)})
		case meaningOf(strings.ToLower(a.text)) == me:
			all = append(all, namedPerson{plainName: plainName{start: a.start}, isSender: true})
		}
	}
	return all
}
