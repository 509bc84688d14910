package stats

import (
	"elobot/internal/notice"
	"elobot/internal/ranking"
)

// PeopleReason is why it is not clear who a question is about. Its values are stored, so their meaning must not change.
type PeopleReason string

// The reasons.
const (
	UnknownName   PeopleReason = "unknown_name" // nobody is called Word; Near have similar names
	SeveralNamed  PeopleReason = "several"      // all of Near are called Word
	NobodyNamed   PeopleReason = "nobody"       // the question is about somebody, and names nobody
	TooManyNamed  PeopleReason = "too_many"     // more people than the question can be about
	NameBoth      PeopleReason = "name_both"    // the sender, who would be one of the two, is an anonymous admin
	SamePersonTwo PeopleReason = "same_person"  // the two that the question is about are one person
)

// UnclearPeople says why it is not clear who a question is about.
type UnclearPeople struct {
	Reason  PeopleReason   `json:"reason"`
	Command string         `json:"command"` // the question
	Word    string         `json:"word,omitempty"`
	Near    []ranking.Name `json:"near,omitempty"`
}

var _ = notice.Register[UnclearPeople](notice.Kind{Name: "unclear_people", Purpose: notice.Answer, Refuses: true})
