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

// cardOf returns the card of a match after an amendment, with the given result. entries are in the order of parts.
func cardOf(s *StoredMatch, r Result, parts []Part, entries []Entry) MatchRecorded {
	n := card(r, sidesOf(parts, entries), s.swappedFor(r))
	n.Number, n.Changes = s.Number, s.Changes+1
	switch {
	case s.ReportedBy == 0:
		n.ReportedBy = &Reporter{}
	case !slices.Contains(s.players(), s.ReportedBy):
		n.ReportedBy = &Reporter{Name: &Name{Player: s.ReportedBy}}
	}
	return n
}

// swappedFor reports whether side B comes first on the card with this result: the winner does, and a draw changes nothing.
func (m *StoredMatch) swappedFor(r Result) bool {
	return r.B > r.A || r.B == r.A && m.SidesSwapped
}

// sidesOf returns side A and side B of a match as they appear on cards.
func sidesOf(parts []Part, entries []Entry) (sides [2]Side) {
	for i, p := range parts {
		side := &sides[p.Side-1]
		side.Players = append(side.Players, RatingChange{
			Name: Name{Player: p.Player}, Before: entries[i].Before, After: entries[i].After,
		})
	}
	return sides
}
