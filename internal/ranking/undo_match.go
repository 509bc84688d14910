package ranking

import (
	"context"
	"time"
)

// UndoMatch undoes a match: it no longer counts, and its ladder is replayed from there. Players and the reporter may undo
// it within Settings.UndoWindow. Admins may undo any match at any time, but they are asked first. A sender whose last match is
// undone already is asked whether to undo the last one that counts: repeating the command must not undo match after match.
func (s *Service) UndoMatch(ctx context.Context, o Origin, a Amendment) error {
	undo := undoOperation{s.amendment(o, a)}
	return s.amend(ctx, "undo match", undo.amendOperation, undo)
}

type undoOperation struct{ *amendOperation }

func (u undoOperation) read(ctx context.Context, store Store, snap Snapshot) error {
	u.undone = 0
	err := u.amendOperation.read(ctx, store, snap)
	if counts := u.countable(); len(counts) == 1 {
		u.found, u.several = &counts[0], nil
	}
	last := u.found
	if err != nil || u.Match != (MatchRef{}) || last == nil || !last.Undone || u.expired(last) {
		return err
	}
	counted, err := store.FindMatch(ctx, u.origin.Chat.ID, MatchRef{LastCounted: true}, u.origin.Sender)
	if counted != nil && !u.expired(counted) {
		u.found, u.undone = counted, last.Number
	}
	return err
}

// asks reports whether the sender is asked first.
func (u undoOperation) asks() bool { return u.asAdmin || u.undone != 0 }

func (u undoOperation) readLocked(ctx context.Context, store Store, snap Snapshot) error {
	if err := u.amendOperation.readLocked(ctx, store, snap); err != nil || !u.asks() || u.found == nil {
		return err
	}
	by, _ := u.by(snap)
	asked, err := store.IsAsked(ctx, u.found.ID, by)
	u.asked = asked
	return err
}

func (u undoOperation) refuse(Snapshot) Notice {
	if n := len(u.several); n > 0 {
		if len(u.countable()) == 0 {
			return Refusal{Code: UndoneAlready, Number: u.several[n-1].Number}
		}
		return nil
	}
	if refusal := u.refusal(); refusal != nil {
		return refusal
	}
	if u.asked {
		return Refusal{Code: AskedAlready, Number: u.found.Number}
	}
	return nil
}

// permit lets everybody ask which match is meant; whoever answers needs permission for that one.
func (u undoOperation) permit(ctx context.Context, snap Snapshot) Notice {
	if len(u.several) > 0 {
		return nil
	}
	return u.amendOperation.permit(ctx, snap)
}

func (u undoOperation) decide(_ context.Context, snap Snapshot) (Changes, error) {
	if len(u.several) > 0 {
		return u.askWhich(snap), nil
	}
	if u.asks() {
		return u.ask(snap)
	}
	return u.undo(snap)
}

// ask asks the sender whether to undo the match.
func (u undoOperation) ask(snap Snapshot) (Changes, error) {
	played, err := u.played()
	if err != nil {
		return Changes{}, err
	}
	card := cardOf(u.found, u.found.Result, played.Parts, played.entries())
	by, asked := u.by(snap)
	prompt := UndoPrompt{Number: u.found.Number, Tag: TagOf(u.found.Key), Sides: card.Sides, Sets: card.Sets, Asked: asked, Undone: u.undone}
	if u.origin.SentAt.Sub(u.found.PlayedAt) >= 24*time.Hour {
		prompt.Played = u.found.PlayedAt.UTC()
	}
	return Changes{
		Effect:         &NewPrompt{Kind: PromptUndo, Match: u.found.ID, Changes: u.found.Changes, Answerer: by},
		Notice:         prompt,
		CallbackAnswer: Acknowledged{},
	}, nil
}

func (u undoOperation) undo(snap Snapshot) (Changes, error) {
	m := u.found
	rewrite, played, err := u.replay(ByUndo, func(m *PlayedMatch) { m.Undone = true })
	if err != nil {
		return Changes{}, err
	}
	by, reporter := u.by(snap)
	card := cardOf(m, m.Result, played.Parts, played.entries())
	notice := MatchUndone{
		Number: m.Number, Sides: card.Sides, Sets: card.Sets, By: reporter, Moved: u.history.moved(rewrite, m.players()),
	}
	card.Undone, card.UndoneBy = true, &reporter
	return Changes{Effect: &Undone{u.amended(by, rewrite, card), u.origin.SentAt}, Notice: notice}, nil
}
