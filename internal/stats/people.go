package stats

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"unicode"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/notice"
	"elobot/internal/ranking"
)

// PeopleReason is why it is not clear who a question is about. Reasons are stored, so their meaning
// must not change.
type PeopleReason string

const (
	UnknownName  PeopleReason = "unknown_name" // no player has the name Word or a similar one
	NobodyNamed  PeopleReason = "nobody"       // the question needs people and names none
	TooManyNamed PeopleReason = "too_many"     // more people than the question can be about
	// NameBoth means that one person is named and the sender is an anonymous admin.
	NameBoth      PeopleReason = "name_both"
	SamePersonTwo PeopleReason = "same_person" // the two people are the same person
)

// UnclearPeople explains why it is not clear who a question is about.
type UnclearPeople struct {
	Reason  PeopleReason `json:"reason"`
	Command string       `json:"command"` // without the slash
	Word    string       `json:"word,omitempty"`
}

var _ = notice.Register[UnclearPeople](notice.Kind{Name: "unclear_people", Purpose: notice.Answer, Refuses: true})

// WhoMeant asks whom a name in a question means.
type WhoMeant struct {
	Doubt  command.Doubt  `json:"doubt"` // DoubtName or DoubtUnknownName
	Word   string         `json:"word"`  // the name
	People []ranking.Name `json:"people"`
	// Picked are the choices made for the unclear names before Word.
	Picked []ladder.PlayerID `json:"picked,omitempty"`
}

var _ = notice.Register[WhoMeant](notice.Kind{Name: "who_meant", Purpose: notice.Answer, Alone: true})

// NameMe is the alias of /stats that is about the sender even in a reply.
const NameMe = "me"

// meantPeople returns the people whom a question is about. These are the people named, or else the
// author of the replied-to message, or else the person in otherwise, unless it is nil. most is the
// maximum number of people. If it is unclear who is meant, if there are too many people, or if the
// command contains something that the question does not use, meantPeople returns a notice that
// explains why.
func meantPeople(
	said command.Command, a ranking.Asked, most int, otherwise *command.Person,
) ([]command.Person, notice.Notice) {
	_, span := said.CutSpan()
	if said.Written == NameMe { // NameMe ignores the replied-to message
		said.Reply = nil
	}
	named, err := command.ParsePeople(said, command.NewNames(a.EverybodyThere()))
	switch unclear := unclearName(said, err); {
	case span != "" && span != command.All:
		return nil, ranking.WrongForm{Command: said.Name, Reason: command.ReasonSpan, Detail: command.Excerpt(said.Typed())}
	case unclear != nil:
		return nil, unclear
	case len(named) == 0 && numberIn(said.Args) != "":
		return nil, ranking.Unexpected(said, numberIn(said.Args))
	case len(named) > most:
		return nil, UnclearPeople{Reason: TooManyNamed, Command: said.Name}
	case slices.Contains(named, command.Person{}): // an anonymous admin
		return nil, ranking.Refusal{Code: ranking.NobodyToShow}
	case len(named) == 0 && otherwise != nil:
		return []command.Person{*otherwise}, nil
	default:
		return named, nil
	}
}

// numberIn returns the first word with a digit in the arguments of a question about people, where
// numbers have no meaning. It returns an empty string if there is none.
func numberIn(args string) string {
	for word := range strings.FieldsSeq(args) {
		if strings.ContainsFunc(word, unicode.IsNumber) {
			return word
		}
	}
	return ""
}

// unclearName turns an ambiguous or unknown name into a notice: it asks who is meant, or says that
// no player has the name. It returns nil for any other err.
func unclearName(said command.Command, err error) notice.Notice {
	var wrong *command.NameError
	if !errors.As(err, &wrong) {
		return nil
	}
	if len(wrong.People) == 0 {
		return UnclearPeople{Reason: UnknownName, Command: said.Name, Word: wrong.Word}
	}
	n := WhoMeant{Doubt: command.DoubtUnknownName, Word: wrong.Word, Picked: said.Picked}
	if wrong.Several {
		n.Doubt = command.DoubtName
	}
	for _, p := range wrong.People {
		n.People = append(n.People, ranking.Name{Player: p.Player})
	}
	return n
}

// playersOf returns the player for each of the people. For a sender who is not a player yet, that
// is the zero Player. For any other person who is not a player, playersOf returns a refusal,
// because a question adds no players.
func playersOf(a ranking.Asked, people []command.Person) ([]ranking.Player, notice.Notice) {
	players := make([]ranking.Player, len(people))
	for i, who := range people {
		shown, k := a.Find(who)
		switch {
		case k.IsPlayer():
			players[i] = *k.Player
		case a.Origin.Sender == nil || !who.IsSame(*a.Origin.Sender):
			refusal := ranking.Refusal{Code: ranking.NoSuchPlayer, Name: cmp.Or(shown.Name, "@"+shown.Username)}
			if near := a.Near(shown.Username); near != nil {
				refusal.Near = near
			}
			return nil, refusal
		}
	}
	return players, nil
}
