package ranking

import "slices"

// card returns the card of a result. sides are side A and side B. On a swapped card side B comes first.
func card(r Result, sides [2]Side, swapped bool) MatchRecorded {
	if swapped {
		r = r.swapped()
		sides[0], sides[1] = sides[1], sides[0]
	}
	sides[0].Score, sides[1].Score = r.A, r.B
	return MatchRecorded{Sides: sides, Sets: r.setScores()}
}

// cardOf returns the card of a match with the given result. entries are in the order of parts.
func (h MatchHistory) cardOf(s *StoredMatch, r Result, parts []Part, entries []Entry) MatchRecorded {
	n := card(r, h.sides(parts, entries), s.SidesSwapped)
	n.Number = s.Number
	switch {
	case s.ReportedBy == 0:
		n.ReportedBy = &Reporter{}
	case !slices.Contains(s.players(), s.ReportedBy):
		n.ReportedBy = &Reporter{Name: &Name{Name: s.Reporter}}
	}
	return n
}

// sides returns side A and side B of a match as they appear on cards.
func (h MatchHistory) sides(parts []Part, entries []Entry) (sides [2]Side) {
	for i, p := range parts {
		var name Name
		if at := slices.IndexFunc(h.Standings, func(s RankedPlayer) bool { return s.Player == p.Player }); at >= 0 {
			name = h.Standings[at].NoticeName()
		}
		side := &sides[p.Side-1]
		side.Players = append(side.Players, RatingChange{Name: name, Before: entries[i].Before, After: entries[i].After})
	}
	return sides
}

// updateCard returns a card with the number, the names and the ratings that its match has after the rewrite.
func (h MatchHistory) updateCard(waiting WaitingCard, w Rewrite) WaitingCard {
	i := slices.IndexFunc(h.Matches, func(m PlayedMatch) bool { return m.ID == waiting.Match })
	if i < 0 {
		return waiting
	}
	m, n := h.Matches[i], &waiting.Notice
	n.Number = m.Number
	if m.Undone { // the card keeps the ratings from the group where it was played
		return waiting
	}
	before, newBefore := n.Sides, n.NewPlayers
	n.Sides, n.NewPlayers = card(m.Result, h.sides(m.Parts, w.entries(m)), waiting.SidesSwapped).Sides, nil
	for side, now := range n.Sides {
		for i, p := range now.Players {
			wasNew := i < len(before[side].Players) && slices.Contains(newBefore, before[side].Players[i].Name)
			if wasNew && h.isNew(p.Name) {
				n.NewPlayers = append(n.NewPlayers, p.Name)
			}
		}
	}
	return waiting
}

// isNew reports whether the player with this name had not played in the ladder before the match history begins.
func (h MatchHistory) isNew(name Name) bool {
	return slices.ContainsFunc(h.Standings, func(s RankedPlayer) bool { return s.NoticeName() == name && s.Played == 0 })
}
