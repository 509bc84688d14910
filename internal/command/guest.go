package command

import (
	"slices"
	"strings"
	"unicode"
)

// GivenName returns the arguments as a name that the sender gives a player, without quotes.
func (c Command) GivenName() string { return strings.Join(c.Unquoted(), " ") }

// FoldName returns what two names have in common if they count as equal, such as "алена" for
// "Алёна".
func FoldName(name string) string { return foldName(name) }

// NewGuest returns a guest who is to be added under a name. In the group, the person is the guest
// with an equal name, if there is one.
func NewGuest(name string) Person { return Person{Name: name} }

// IsNewGuest reports whether p has only a name, as from NewGuest.
func (p Person) IsNewGuest() bool {
	return p.Name != "" && p.Player == 0 && !p.isKnown() && !p.IsStandIn
}

// canBeGuest reports whether an unknown word of a report can be the name of a new guest.
func (n *Names) canBeGuest(word string) bool {
	_, isHeld := n.Holder(word) // by somebody who had the username
	return !isHeld && n.CanNamePlayer(word)
}

// hasLikelyGuest reports whether the reading is one match with a new guest, and an unknown word may
// well be the guest's name: both sides have the same size, and the word begins with a capital
// letter or is all that the report says about the players.
func (r Reading) hasLikelyGuest() bool {
	m := r[0]
	people := slices.Concat(m.A, m.B)
	at := slices.IndexFunc(people, Person.IsNewGuest)
	isLower := func(word string) bool { return unicode.IsLower([]rune(word)[0]) }
	return at >= 0 && len(r) == 1 && len(m.A) == len(m.B) &&
		(m.Self || !slices.ContainsFunc(strings.Fields(people[at].Name), isLower))
}
