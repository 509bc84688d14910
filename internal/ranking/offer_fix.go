package ranking

import (
	"context"

	"elobot/internal/notice"
)

// offerFix handles an edit of the message that recorded a match. It offers to fix the match if the same sender now reports another score
// for the same people on the same sides. Other edits get no answer, and nobody is asked what one means. offerFix itself changes no match.
func (s *Service) offerFix(ctx context.Context, o Origin, read func(everybody []Person) Reading) error {
	original := MatchRef{Message: o.ReplyTo, Key: o.Message}
	o.Message = "" // the offer is no command of the message
	j := job{name: "offer fix", bucket: RateQuestion, knownChatOnly: true, silent: true}
	return s.handleMessage(ctx, o, j, Needs{Match: &original}, func(everybody []Person) operation {
		return correctionIn(o, original, read(everybody))
	})
}

// correctionIn returns the operation for what an edited message says.
func correctionIn(o Origin, original MatchRef, r Reading) correctedReport {
	corrected := correctedReport{origin: o, original: original}
	if len(r.Reports) != 1 {
		return corrected
	}
	report := r.Reports[0]
	corrected.result = resultOf(report.Scores)
	corrected.sides = corrected.people.addSides([2][]Person{report.A, report.B})
	if o.Sender != nil {
		corrected.reporter = corrected.people.add(*o.Sender)
	}
	return corrected
}

// correctedReport is a report after its command was edited.
type correctedReport struct {
	plain
	origin   Origin
	original MatchRef
	result   Result
	people   participants // nobody unless it is clear what is reported
	sides    [2][]int     // the players, as indexes into people
	reporter int          // the sender, as an index into people; meaningless without a sender
}

func (f correctedReport) needs() Needs { return Needs{People: f.people, Match: &f.original} }

func (f correctedReport) decide(snap Snapshot) (Decision, error) {
	if len(f.people) == 0 || len(snap.Matches) != 1 {
		return Decision{}, errUnanswered
	}
	m := &snap.Matches[0]
	switch {
	case m.Key != f.original.Key, m.Undone, f.result.equal(m.Result), f.result.A == f.result.B && !snap.Ladder.DrawsAllowed,
		!f.isBy(snap, m.ReportedBy), !f.plays(snap, m.Players[0], 0), !f.plays(snap, m.Players[1], 1):
		return Decision{}, errUnanswered
	}
	return Decision{Notice: FixOffer{
		Number: m.Number, Changes: m.Changes,
		Score: [2]int{f.result.A, f.result.B}, Sets: f.result.setScores(),
		Was: OldScore{Score: [2]int{m.Result.A, m.Result.B}, Sets: m.Result.setScores()},
	}}, nil
}

// isBy is true if the sender is a player; 0 stands for an anonymous admin.
func (f correctedReport) isBy(snap Snapshot, reporter PlayerID) bool {
	if f.origin.Sender == nil {
		return reporter == 0
	}
	p := snap.People[f.reporter].Player
	return p != nil && p.ID == reporter
}

// plays is true if the people on a side of the report are these players.
func (f correctedReport) plays(snap Snapshot, players []PlayerID, side int) bool {
	var ids []PlayerID
	for _, i := range f.sides[side] {
		p := snap.People[i].Player
		if p == nil {
			return false
		}
		ids = append(ids, p.ID)
	}
	return samePlayers(ids, players)
}

// FixOffer offers to fix the score of a match whose command was edited. All scores are in the order of the command.
type FixOffer struct {
	Number  int        `json:"number"`
	Changes int        `json:"changes,omitempty"` // of the match so far
	Score   [2]int     `json:"score"`             // from the edited command
	Sets    []SetScore `json:"sets,omitempty"`
	Was     OldScore   `json:"was"` // the stored score
}

var _ = notice.Register[FixOffer](notice.Kind{Name: "fix_offer", Purpose: notice.Answer, Alone: true})
