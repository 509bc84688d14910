package command

import (
	"slices"
	"strings"
	"unicode"
)

// GivenName returns the arguments as a name that the sender gives a player, without quotes.
func (c Command) GivenName() string { return strings.Join(c.Unquoted(), " ") }

// FoldName returns a form of a name that is the same for all names treated as equal, such as
// "алена" for "Алёна".
func FoldName(name string) string { return foldName(name) }

// NewGuest returns a guest who is to be added under a name. If the group already has a guest with
// an equal name, the person is that guest.
func NewGuest(name string) Person { return Person{Name: name} }

// IsNewGuest reports whether p has only a name, like the result of NewGuest.
func (p Person) IsNewGuest() bool {
	return p.Name != "" && p.Player == 0 && !p.isKnown() && !p.IsStandIn
}

// canBeGuest reports whether an unknown word of a report can be the name of a new guest.
func (n *Names) canBeGuest(word string) bool {
	_, isHeld := n.Holder(word) // for example as a former username
	return !isHeld && n.CanNamePlayer(word) && !IsOfNameless(word) && !NamesSeveral(word)
}

// NamesSeveral reports whether a name has a comma, a semicolon, a dash between words or a word such
// as "and", so that a report would read it as several names. The "E" of "John E. Smith" is no word.
func NamesSeveral(name string) bool {
	return strings.ContainsAny(name, ",;，、") || slices.ContainsFunc(text{written: name}.words(), func(w word) bool {
		return isSign(w.string) || w.meaning == and && strings.ToLower(w.string) == w.string
	})
}

// hasLikelyGuest reports whether the reading is a single match that probably has a new guest. The
// sides must have the same size. Also, no word of the guest's name may begin with a lower-case
// letter, unless the name is all that the report says about the players.
func (r Reading) hasLikelyGuest() bool {
	m := r[0]
	people := slices.Concat(m.A, m.B)
	at := slices.IndexFunc(people, Person.IsNewGuest)
	isLower := func(word string) bool { return unicode.IsLower([]rune(word)[0]) }
	return at >= 0 && len(r) == 1 && len(m.A) == len(m.B) &&
		(m.Self || !slices.ContainsFunc(strings.Fields(people[at].Name), isLower))
}
