package ranking

import "context"

// UndoMatch makes a match as if it had never been played: it counts no more, and all that came after it in its ladder is
// reckoned anew. Those who played or reported it may, for the time that the settings say; admins may always.
func (s *Service) UndoMatch(ctx context.Context, o Origin, t Amendment) error {
	undo := undoing{s.amendment(o, t)}
	return s.handle(ctx, o, command{
		name:   "undo match",
		people: undo.people(),
		needed: len(undo.people()),
		match:  &t.Match,
		class:  RateResult,
		item:   undo.item,
		refuse: undo.find,
		permit: undo.permit,
		decide: undo.decide,
	})
}

type undoing struct{ *amendment }

func (u undoing) decide(snap Snapshot) (Changes, error) {
	m := snap.Match
	rewrite, played, err := u.replay(snap, ByUndo, func(m *PlayedMatch) { m.Undone = true })
	if err != nil {
		return Changes{}, err
	}
	by, told := u.by(snap)
	card := snap.MatchHistory.cardOf(m, m.Result, played.Parts, played.entries())
	notice := MatchUndone{
		Number: m.Number, Sides: card.Sides, Sets: card.Sets, By: told, Moved: snap.MatchHistory.moved(rewrite, m.players()),
	}
	card.Undone, card.UndoneBy = true, &told
	return Changes{
		Undo: &Undone{Match: m.ID, By: by}, Rewrite: &rewrite, Notice: notice, Card: &Card{Match: m.ID, Notice: card},
	}, nil
}

// entries returns what the history says of a match that counts.
func (m PlayedMatch) entries() []Entry {
	entries := make([]Entry, len(m.Parts))
	for i, p := range m.Parts {
		if p.Entry != nil {
			entries[i] = *p.Entry
		}
	}
	return entries
}
