package stats

import (
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
