package ranking

import (
	"elobot/internal/command"
	"elobot/internal/notice"
)

// MaxRejected is how many results a NotRecorded lists before it only counts further commands. The
// results of the last listed command may exceed it.
const MaxRejected = 30

// NotRecorded lists results that were rejected because the sender exceeded the limit per minute.
// Until the notice is sent, further rejected results of the same sender in the same topic are added
// to it.
type NotRecorded struct {
	Limit int              `json:"limit"`          // maximum number of results per minute
	Items []RejectedResult `json:"items"`          // in order of rejection
	More  int              `json:"more,omitempty"` // number of commands whose results are not listed
}

var _ = notice.Register[NotRecorded](notice.Kind{
	Name: "not_recorded", Purpose: notice.Outcome, Alone: true, Refuses: true,
})

// RejectedResult is a match that was not recorded, or an amendment that was not made.
type RejectedResult struct {
	Command     string `json:"command"` // match, undo, restore or fix
	NamedResult        // set for a report; for a fix, only the scores are set
	// Number is the number of the match to be amended, 0 if unknown. Last is set if the command is
	// about the sender's last match or, for a restore, about the last match that the sender undid.
	Number int  `json:"number,omitempty"`
	Last   bool `json:"last,omitempty"`
	// Malformed is set if the command has no valid result. Within the limit, the bot would have
	// explained what is wrong, or asked for the result. The fields above except Command may be
	// empty then.
	Malformed bool `json:"malformed,omitempty"`
}

// The names of the commands that count as results. They must be the same as in package command,
// because the texts about RejectedResults depend on those names.
const (
	commandMatch   = "match"
	commandUndo    = "undo"
	commandRestore = "restore"
	commandFix     = "fix"
)

type malformedResult struct {
	answer
	name string
}

func (r *recordOperation) rejectedResults(snap *Snapshot) (all []RejectedResult) {
	for _, result := range r.namedResults(snap) {
		all = append(all, RejectedResult{Command: commandMatch, NamedResult: result})
	}
	return all
}

// NamedResult is a result with the names of the players, in the order of the report.
type NamedResult struct {
	Sides    [2][]Name  `json:"sides,omitzero"`
	StandIns [2]int     `json:"stand_ins,omitzero"` // number of nameless guests on each side
	Score    [2]int     `json:"score,omitzero"`
	Sets     []SetScore `json:"sets,omitempty"`
}

// namedResults returns the results of the matches, with the players as named by NameOf.
func (r *recordOperation) namedResults(snap *Snapshot) (all []NamedResult) {
	for _, m := range r.matches {
		result := namedResult(m.result)
		result.StandIns = m.standIns
		for i, person := range m.players {
			side := &result.Sides[m.sides[i]-1]
			*side = append(*side, NameOf(r.people[person], snap.known(person)))
		}
		all = append(all, result)
	}
	return all
}

func shownNames(people []command.Person) (all []Name) {
	for _, p := range people {
		all = append(all, NameOf(p, Known{}))
	}
	return all
}

func shownSides(sides [2][]command.Person) [2][]Name {
	return [2][]Name{shownNames(sides[0]), shownNames(sides[1])}
}

// NameOf returns the name of a person who is not necessarily a player. If the person is a player,
// or p has a Player, the Name refers to that player. Otherwise it has the name or the username in
// the message.
func NameOf(p command.Person, k Known) Name {
	switch {
	case k.IsPlayer():
		return k.Player.name()
	case p.Player != 0:
		return Name{Player: p.Player}
	case p.Name != "":
		return Name{Name: p.Name}
	default:
		return Name{Name: "@" + p.Username}
	}
}

func (a amendOperation) rejectedResults(snap *Snapshot) []RejectedResult {
	rejected := RejectedResult{
		Command: a.command, Number: a.Match.Number, Last: a.Match == MatchRef{} || a.Match.LastUndone,
	}
	if m := a.found(snap); rejected.Number == 0 && !rejected.Last && m != nil {
		rejected.Number = m.Number
	}
	return []RejectedResult{rejected}
}

func (u undoOperation) rejectedResults(snap *Snapshot) []RejectedResult {
	rejected := u.amendOperation.rejectedResults(snap)
	if m, _ := u.meant(snap); rejected[0].Number == 0 && !rejected[0].Last && m != nil {
		rejected[0].Number = m.Number
	}
	return rejected
}

func (f fixOperation) rejectedResults(snap *Snapshot) []RejectedResult {
	rejected := f.amendOperation.rejectedResults(snap)
	rejected[0].NamedResult, rejected[0].Malformed = namedResult(f.result), f.isOpen
	return rejected
}

func (malformedResult) isMalformed() bool { return true }

func (m malformedResult) rejectedResults(*Snapshot) []RejectedResult {
	return []RejectedResult{{Command: m.name, Malformed: true}}
}
