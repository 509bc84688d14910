package ranking

import (
	"context"
	"slices"
)

// FixMatch corrects the result of a match. The match keeps its number and its position in the ladder, and the ladder is
// replayed from there. Whoever may undo a match may fix it.
//
// The order of the scores depends on how the match is found:
//   - by the command that recorded it: the order of that command;
//   - by number or by its card: the order of the card, which changes if a fix makes the other side the winner;
//   - as the sender's last match: the sender's own score first if they played, else the order of the command.
func (s *Service) FixMatch(ctx context.Context, o Origin, a Amendment, scores []Score) error {
	fix := fixOperation{s.amendment(o, a), resultOf(scores)}
	return s.amend(ctx, "fix match", fix.amendOperation, fix)
}

// AcceptFix corrects the result of a match as an offer suggests, whose button was pressed. The message with the offer is edited
// to show what came of it, also if the match cannot be fixed any more: the button has served.
func (s *Service) AcceptFix(ctx context.Context, o Origin, offer int64, a Amendment, scores []Score) error {
	fix := fixOperation{s.amendment(o, a), resultOf(scores)}
	return s.amend(ctx, "accept fix", fix.amendOperation, acceptedFix{fix, offer})
}

// acceptedFix is a press of the button of an offer.
type acceptedFix struct {
	fixOperation
	offer int64 // the message with the button
}

// refuse leaves it to decide to refuse a fix for a reason that ends the offer.
func (f acceptedFix) refuse(Snapshot) Notice {
	if f.found == nil {
		return f.refusal()
	}
	return nil
}

func (f acceptedFix) decide(ctx context.Context, snap Snapshot) (changes Changes, err error) {
	if refusal := f.fixOperation.refuse(snap); refusal != nil {
		changes.Notice = refusal
	} else {
		changes, err = f.fixOperation.decide(ctx, snap)
	}
	changes.Page, changes.Notice, changes.Edits = changes.Notice, nil, f.offer
	return changes, err
}

type fixOperation struct {
	*amendOperation
	result Result
}

// corrected returns the new result in the stored order of the sides.
func (f fixOperation) corrected(snap Snapshot) Result {
	swapped := f.found.SidesSwapped
	switch {
	case f.found.Key == f.Match.Key: // found by its command
		swapped = false
	case f.Match == MatchRef{}: // the sender is never nil here: refusal has refused that
		sender := snap.People[0].Player
		swapped = sender != nil && slices.Contains(f.found.Players[1], sender.ID)
	}
	if swapped {
		return f.result.swapped()
	}
	return f.result
}

func (f fixOperation) refuse(snap Snapshot) Notice {
	if n := f.refusal(); n != nil {
		return n
	}
	switch corrected := f.corrected(snap); {
	case corrected.equal(f.found.Result):
		return Refusal{Code: SameScore, Number: f.found.Number}
	case corrected.A == corrected.B && !snap.Ladder.DrawsAllowed:
		return Refusal{Code: NoDraws}
	}
	return nil
}

func (f fixOperation) decide(_ context.Context, snap Snapshot) (Changes, error) {
	m, corrected := f.found, f.corrected(snap)
	rewrite, played, err := f.replay(ByFix, func(m *PlayedMatch) { m.Result = corrected })
	if err != nil {
		return Changes{}, err
	}
	old := m.Result
	if m.swappedFor(corrected) {
		old = old.swapped() // the order of the new card
	}
	was := OldScore{Score: [2]int{old.A, old.B}, Sets: old.setScores()}
	by, reporter := f.by(snap)
	card := cardOf(m, corrected, played.Parts, rewrite.entries(played))
	notice := MatchFixed{
		Number: m.Number, Sides: card.Sides, Sets: card.Sets, Was: was, By: reporter,
		Moved: f.history.moved(rewrite, m.players()),
	}
	card.Was = &was
	return Changes{Effect: &Fixed{f.amended(by, rewrite, card), m.Result, corrected}, Notice: notice}, nil
}
