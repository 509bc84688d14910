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

// PeopleReason is why it is not clear who a question is about. Its values are stored, so their meaning must not change.
type PeopleReason string

// The reasons.
const (
	UnknownName   PeopleReason = "unknown_name" // nobody is called Word, or nearly so
	NobodyNamed   PeopleReason = "nobody"       // the question is about somebody, and names nobody
	TooManyNamed  PeopleReason = "too_many"     // more people than the question can be about
	NameBoth      PeopleReason = "name_both"    // the sender, who would be one of the two, is an anonymous admin
	SamePersonTwo PeopleReason = "same_person"  // the two that the question is about are one person
)

// UnclearPeople says why it is not clear who a question is about.
type UnclearPeople struct {
	Reason  PeopleReason `json:"reason"`
	Command string       `json:"command"` // the question
	Word    string       `json:"word,omitempty"`
}

var _ = notice.Register[UnclearPeople](notice.Kind{Name: "unclear_people", Purpose: notice.Answer, Refuses: true})

// WhoMeant asks who is meant by a name in a question.
type WhoMeant struct {
	Doubt  command.Doubt  `json:"doubt"` // DoubtName or DoubtUnknownName
	Word   string         `json:"word"`  // the name
	People []ranking.Name `json:"people"`
	// Picked are the players whom the unclear names before it mean.
	Picked []ladder.PlayerID `json:"picked,omitempty"`
}

var _ = notice.Register[WhoMeant](notice.Kind{Name: "who_meant", Purpose: notice.Answer, Alone: true})

// NameMe is the alias of /stats that is always about the sender.
const NameMe = "me"

// meantPeople returns the people whom a question is about, at most so many: those whom it names, or
// else the author of the message that it replies to, or else the one that is given, if any.
func meantPeople(said command.Command, a ranking.Asked, most int, otherwise *command.Person) ([]command.Person, notice.Notice) {
	_, span := said.CutSpan()
	if said.Written == NameMe { // that is the sender
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

// numberIn returns the first number in the arguments of a question about people, to which it means
// nothing; empty if there is none.
func numberIn(args string) string {
	for word := range strings.FieldsSeq(args) {
		if strings.ContainsFunc(word, unicode.IsNumber) {
			return word
		}
	}
	return ""
}

// unclearName says whom a question may mean if a name in it does not tell, or that nobody is called
// so. It returns nil if err says neither.
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

// playersOf returns the players of people, the zero Player for a sender who is none yet. For all
// others who are none, it returns a refusal: a question does not add them.
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
