package ranking

import "context"

// RestoreMatch takes an undo back: the match counts again under its old number, and its ladder is replayed from there. Whoever
// undid it may restore it within Settings.UndoWindow of the undo, and so may admins. Both times are those when the commands
// were sent. What a merge of two players undid cannot come back, because nobody can play twice in one match. A reference to
// no match means the last one that the sender undid.
func (s *Service) RestoreMatch(ctx context.Context, o Origin, a Amendment) error {
	a.Match.LastUndone = a.Match == MatchRef{}
	restore := restoreOperation{s.amendment(o, a)}
	return s.amend(ctx, "restore match", restore.amendOperation, restore)
}

type restoreOperation struct{ *amendOperation }

func (r restoreOperation) refuse(Snapshot) Notice {
	ref, m := r.Match, r.found
	switch {
	case ref.LastUndone && r.origin.Sender == nil:
		return Refusal{Code: WhichUndone}
	case r.isGone():
		return Refusal{Code: MatchGone}
	case m == nil && ref.Number != 0:
		return Refusal{Code: NoSuchMatch, Number: ref.Number}
	case m == nil && !ref.LastUndone:
		return Refusal{Code: NotAboutAMatch}
	case m == nil, ref.LastUndone && m.Undone && r.expired():
		return Refusal{Code: NothingToRestore, Minutes: r.minutes()}
	case r.isStale():
		return r.cannotChange()
	case !m.Undone:
		return Refusal{Code: NotUndone, Number: m.Number}
	case m.SamePerson:
		return Refusal{Code: SamePersonTwice, Number: m.Number}
	case r.expired():
		return Refusal{Code: UndoneLongAgo, Number: m.Number, Minutes: r.minutes()}
	}
	return r.cannotChange()
}

// expired reports whether the match was undone too long ago.
func (r restoreOperation) expired() bool { return r.origin.SentAt.Sub(r.found.UndoneAt) > r.window }

func (r restoreOperation) permit(ctx context.Context, snap Snapshot) Notice {
	if r.origin.Sender != nil && snap.People[0].Player != nil && snap.People[0].Player.ID == r.found.UndoneBy {
		return nil
	}
	return r.requireAdmin(ctx, Refusal{Code: NotUndoneByYou, Number: r.found.Number})
}

func (r restoreOperation) decide(_ context.Context, snap Snapshot) (Changes, error) {
	m := r.found
	rewrite, played, err := r.replay(ByRestore, func(m *PlayedMatch) { m.Undone = false })
	if err != nil {
		return Changes{}, err
	}
	by, reporter := r.by(snap)
	card := cardOf(m, m.Result, played.Parts, rewrite.entries(played))
	notice := MatchRestored{
		Number: m.Number, Sides: card.Sides, Sets: card.Sets, By: reporter, Moved: r.history.moved(rewrite, m.players()),
	}
	return Changes{Effect: &Restored{r.amended(by, rewrite, card)}, Notice: notice}, nil
}
