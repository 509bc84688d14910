package ranking

import (
	"context"
	"slices"
)

// FixMatch corrects the result of a match, which keeps its number and its place: all that came after it in its ladder
// is reckoned anew. Who may undo a match may correct it.
//
// The scores are in the order of the match's card; in that of the command that made the match, if it was found by that;
// and when the sender's last match is meant, with nothing to look at, the sender's own score comes first if they have
// played, and else they are in the order of the command.
func (s *Service) FixMatch(ctx context.Context, o Origin, t Amendment, scores []Score) error {
	fix := fixing{s.amendment(o, t), resultOf(scores)}
	return s.handle(ctx, o, command{
		name:   "fix match",
		people: fix.people(),
		needed: len(fix.people()),
		match:  &t.Match,
		class:  RateResult,
		item:   fix.item,
		refuse: fix.refuse,
		permit: fix.permit,
		decide: fix.decide,
	})
}

type fixing struct {
	*amendment
	result Result
}

// corrected returns the new result in the order of the match's sides.
func (f fixing) corrected(snap Snapshot) Result {
	turned := snap.Match.Turned
	switch {
	case snap.Match.ByCommand:
		turned = false
	case f.Match == MatchRef{}: // the sender, who is there then, looks at no card
		sender := snap.People[0].Player
		turned = sender != nil && slices.Contains(snap.Match.Players[1], sender.ID)
	}
	if turned {
		return f.result.swapped()
	}
	return f.result
}

func (f fixing) refuse(snap Snapshot) Notice {
	if n := f.find(snap); n != nil {
		return n
	}
	switch right := f.corrected(snap); {
	case right.equal(snap.Match.Result):
		return Refusal{Code: SameScore, Number: snap.Match.Number}
	case right.A == right.B && !snap.Ladder.DrawsAllowed:
		return Refusal{Code: NoDraws}
	}
	return nil
}

func (f fixing) decide(snap Snapshot) (Changes, error) {
	m, right := snap.Match, f.corrected(snap)
	rewrite, played, err := f.replay(snap, ByFix, func(m *PlayedMatch) { m.Result = right })
	if err != nil {
		return Changes{}, err
	}
	old := m.Result
	if m.Turned {
		old = old.swapped() // as the sides stand on the card
	}
	was := OldScore{Score: [2]int{old.A, old.B}, Sets: old.setScores()}
	by, told := f.by(snap)
	card := snap.MatchHistory.cardOf(m, right, played.Parts, rewrite.entries(played))
	notice := MatchFixed{
		Number: m.Number, Sides: card.Sides, Sets: card.Sets, Was: was, By: told,
		Moved: snap.MatchHistory.moved(rewrite, m.players()),
	}
	card.Was = &was
	return Changes{
		Fix: &Fixed{Match: m.ID, By: by, Old: m.Result, New: right}, Rewrite: &rewrite,
		Notice: notice, Card: &Card{Match: m.ID, Notice: card},
	}, nil
}
