package ranking

import (
	"context"
	"slices"
	"time"
)

// UndoMatch undoes a match: it no longer counts, and its ladder is replayed from there. Players and the reporter may undo it within
// Settings.UndoWindow. Admins may undo any match at any time, but they are asked first. A sender whose last match is undone already is
// asked whether to undo the last one that counts: repeating the command must not undo match after match.
type UndoMatch struct{ Amendment }

func (u UndoMatch) do(ctx context.Context, s *Service, o Origin) error {
	return s.amend(ctx, "undo match", o, u.Amendment, undoOperation{amendOperation: s.amendment(o, commandUndo, u.Amendment)})
}

type undoOperation struct {
	amendOperation

	// What follows from the snapshot.
	undone int // the number of the sender's last match if that is undone already, and found is the last one that counts; or 0
}

func (u undoOperation) needs() Needs {
	needs := u.amendOperation.needs()
	needs.LastCounted = u.Match == MatchRef{}
	return needs
}

func (u undoOperation) in(snap Snapshot) (operation, Snapshot) { return u.with(snap), snap }

// with returns the operation with the match that it finds in the snapshot.
func (u undoOperation) with(snap Snapshot) undoOperation {
	u.amendOperation, u.undone = u.amendOperation.with(snap), 0
	if counts := u.countable(); len(counts) == 1 {
		u.found, u.several = &counts[0], nil
	}
	last, counted := u.found, snap.Counted
	if u.Match == (MatchRef{}) && last != nil && last.Undone && !u.expired(last) && counted != nil && !u.expired(counted) {
		u.found, u.undone = counted, last.Number
	}
	return u
}

// refuse returns why the match cannot be undone, nil if it can, or if it is asked which one is meant.
func (u undoOperation) refuse(Snapshot) Notice {
	n := len(u.several)
	switch {
	case n == 0:
		return u.refusal()
	case len(u.countable()) == 0:
		return Refusal{Code: UndoneAlready, Number: u.several[n-1].Number}
	}
	return nil
}

// permission lets everybody ask which match is meant; whoever answers needs permission for that one.
func (u undoOperation) permission(snap Snapshot) Permission {
	if len(u.several) > 0 {
		return Permission{}
	}
	return u.involved(snap)
}

func (u undoOperation) replays(Snapshot) *StoredMatch { return u.found }

func (u undoOperation) decide(snap Snapshot) (Decision, error) {
	u.history = snap.History
	switch {
	case len(u.several) > 0:
		return u.askWhich(snap), nil
	case u.undone != 0 || u.involved(snap).asAdmin():
		return u.ask(snap)
	}
	return u.undo(snap)
}

// ask asks the sender whether to undo the match.
func (u undoOperation) ask(snap Snapshot) (Decision, error) {
	played, err := u.played()
	if err != nil {
		return Decision{}, err
	}
	card := cardOf(u.found, u.found.Result, played.Parts, played.entries())
	by, asked := u.by(snap)
	if slices.Contains(u.found.Asked, by) {
		return Decision{Notice: Refusal{Code: AskedAlready, Number: u.found.Number}}, nil
	}
	prompt := UndoPrompt{Number: u.found.Number, Tag: TagOf(u.found.Key), Sides: card.Sides, Sets: card.Sets, Asked: asked, Undone: u.undone}
	if u.origin.SentAt.Sub(u.found.PlayedAt) >= 24*time.Hour {
		prompt.Played = u.found.PlayedAt.UTC()
	}
	return Decision{
		Asks:           &NewPrompt{Kind: PromptUndo, Match: u.found.ID, Changes: u.found.Changes, Answerer: by},
		Notice:         prompt,
		CallbackAnswer: Acknowledged{},
	}, nil
}

func (u undoOperation) undo(snap Snapshot) (Decision, error) {
	m := u.found
	rewrite, played, err := u.replay(ByUndo, func(m *PlayedMatch) { m.Undone = true })
	if err != nil {
		return Decision{}, err
	}
	by, reporter := u.by(snap)
	card := cardOf(m, m.Result, played.Parts, played.entries())
	notice := MatchUndone{
		Number: m.Number, Sides: card.Sides, Sets: card.Sets, By: reporter, Moved: u.history.moved(rewrite, m.players()),
	}
	card.Undone, card.UndoneBy = true, &reporter
	return Decision{Effect: &Undone{u.amended(by, rewrite, card), u.origin.SentAt}, Notice: notice}, nil
}
