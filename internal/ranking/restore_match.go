package ranking

import "elobot/internal/ladder"

// RestoreMatch reverses an undo: the match counts again under its old number, and its season is
// replayed from there. The person who undid the match may restore it within Settings.UndoWindow,
// measured between the times when the two commands were sent. Admins may restore any match within
// that window. In a season that is over, only admins may restore matches. A match cannot be
// restored if two of its players have turned out to be the same person, because a person cannot
// play twice in a match. An empty MatchRef means the last match that the sender undid.
type RestoreMatch struct{ Amendment }

func (r RestoreMatch) plan(s *Service, c *call) *call {
	a := r.Amendment
	a.Match.LastUndone = a.Match == MatchRef{}
	return c.amending("restore match", restoreOperation{s.amendment(c, commandRestore, a)})
}

type restoreOperation struct{ amendOperation }

func (r restoreOperation) needs() Needs {
	needs := r.amendOperation.needs()
	needs.LastCounted = r.Match.LastUndone
	return needs
}

// refuse returns why the match cannot be restored, nil if it can. If the command names no match and
// the sender has none to restore, the refusal may be about the sender's last match that counts.
func (r restoreOperation) refuse(snap *Snapshot) Notice {
	ref, m := r.Match, r.found(snap)
	switch {
	case ref.LastUndone && r.origin.Sender == nil:
		return Refusal{Code: WhichUndone}
	case r.isGone(m):
		return Refusal{Code: MatchGone}
	case m == nil && ref.Number != 0:
		return Refusal{Code: NoSuchMatch, Number: ref.Number}
	case m == nil && !ref.LastUndone:
		return Refusal{Code: NotAboutAMatch}
	case m == nil && snap.Counted != nil && !r.expired(snap.Counted):
		return Refusal{Code: NotUndone, Number: snap.Counted.Number}
	case m == nil, ref.LastUndone && m.Undone && r.undoneLongAgo(m):
		return Refusal{Code: NothingToRestore, Minutes: r.minutes()}
	case r.isStale(m):
		return r.cannotChange(m)
	case !m.Undone:
		return Refusal{Code: NotUndone, Number: m.Number}
	case m.SamePerson:
		return Refusal{Code: SamePersonTwice, Number: m.Number}
	case r.undoneLongAgo(m):
		return Refusal{Code: UndoneLongAgo, Number: m.Number, Minutes: r.minutes()}
	}
	return r.cannotChange(m)
}

func (r restoreOperation) undoneLongAgo(m *StoredMatch) bool {
	return r.origin.SentAt.Sub(m.UndoneAt) > r.window
}

func (r restoreOperation) permission(snap *Snapshot) Permission {
	m := r.found(snap)
	if snap.isOver(m.Season) {
		return correctedByAdmins(m)
	}
	return Permission{
		Who:      Involved,
		Involved: r.origin.Sender != nil && snap.People[0].Player != nil && snap.People[0].Player.ID == m.UndoneBy,
		Refusal:  Refusal{Code: NotUndoneByYou, Number: m.Number},
	}
}

func (r restoreOperation) decide(snap *Snapshot) (Decision, need, error) {
	m := r.found(snap)
	if snap.History == nil {
		return Decision{}, historyOf{match: m}, nil
	}
	amended, said, err := r.amended(snap, m, ladder.ByRestore, func(p *ladder.Match) { p.Undone = false })
	if err != nil {
		return Decision{}, nil, err
	}
	return Decision{Effect: &Restored{amended}, Notice: MatchRestored(said)}, nil, nil
}
