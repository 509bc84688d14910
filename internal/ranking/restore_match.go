package ranking

import "context"

// RestoreMatch takes an undo back: the match counts again under its old number, and its ladder is replayed from there. Whoever undid it may
// restore it within Settings.UndoWindow of the undo, and so may admins. Both times are those when the commands were sent. What a merge of
// two players undid cannot come back, because nobody can play twice in one match. A reference to no match means the last one that the
// sender undid.
type RestoreMatch struct{ Amendment }

func (r RestoreMatch) do(ctx context.Context, s *Service, o Origin) error {
	a := r.Amendment
	a.Match.LastUndone = a.Match == MatchRef{}
	return s.amend(ctx, "restore match", o, a, restoreOperation{s.amendment(o, commandRestore, a)})
}

type restoreOperation struct{ amendOperation }

func (r restoreOperation) needs() Needs {
	needs := r.amendOperation.needs()
	needs.LastCounted = r.Match.LastUndone
	return needs
}

func (r restoreOperation) in(snap Snapshot) (operation, Snapshot) {
	return restoreOperation{r.with(snap)}, snap
}

// refuse returns why the match cannot be restored, nil if it can. If the sender has undone nothing, or has restored it, the last match
// that counts says so.
func (r restoreOperation) refuse(snap Snapshot) Notice {
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
	case m == nil && snap.Counted != nil && !r.amendOperation.expired(snap.Counted):
		return Refusal{Code: NotUndone, Number: snap.Counted.Number}
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

// expired is true if the match was undone too long ago.
func (r restoreOperation) expired() bool { return r.origin.SentAt.Sub(r.found.UndoneAt) > r.window }

func (r restoreOperation) permission(snap Snapshot) Permission {
	if snap.isOver(r.found.Season) {
		return correctedByAdmins(r.found)
	}
	return Permission{
		Who:      Involved,
		Involved: r.origin.Sender != nil && snap.People[0].Player != nil && snap.People[0].Player.ID == r.found.UndoneBy,
		Refusal:  Refusal{Code: NotUndoneByYou, Number: r.found.Number},
	}
}

func (r restoreOperation) replays(Snapshot) *StoredMatch { return r.found }

func (r restoreOperation) decide(snap Snapshot) (Decision, error) {
	r.history = snap.History
	m := r.found
	rewrite, played, err := r.replay(ByRestore, func(m *PlayedMatch) { m.Undone = false })
	if err != nil {
		return Decision{}, err
	}
	by, reporter := r.by(snap)
	card := cardOf(m, m.Result, played.Parts, rewrite.entries(played))
	notice := MatchRestored{
		Number: m.Number, Sides: card.Sides, Sets: card.Sets, By: reporter, Moved: r.history.moved(rewrite, m.players()),
	}
	return Decision{Effect: &Restored{r.amended(by, rewrite, card)}, Notice: notice}, nil
}
