package ranking

import (
	"slices"

	"elobot/internal/ladder"
)

// lineup is who plays a match on which side, and the result. Both have the sides in the order of
// the recorded match.
type lineup struct {
	players [2][]ladder.PlayerID
	result  ladder.Result
}

// lineupOf returns the lineup that a report with these sides and this result gives to the match. Of
// the two orders of the sides, it takes the order in which more players of the match stay on their
// side. If the result is only an outcome, and the match has a score with that outcome, the score
// stays. ok is false if the numbers of players on the sides differ from those in the match.
func (m *StoredMatch) lineupOf(sides [2][]ladder.PlayerID, result ladder.Result) (l lineup, ok bool) {
	exchanged := swappedSides(sides)
	players, ok := m.inPositions(sides)
	if others, fits := m.inPositions(exchanged); fits && (!ok || m.staying(exchanged) > m.staying(sides)) {
		players, result, ok = others, result.Swapped(), true
	}
	if m.has(result) {
		result = m.Result
	}
	return lineup{players, result}, ok
}

// isSame reports whether two lineups have the same result, and the same players in the same
// positions.
func (l lineup) isSame(o lineup) bool {
	return slices.Equal(l.players[0], o.players[0]) && slices.Equal(l.players[1], o.players[1]) && l.result.Equal(o.result)
}

// isNow reports whether the match already has the lineup.
func (m *StoredMatch) isNow(l lineup) bool { return l.isSame(lineup{m.Players, m.Result}) }

// lineupsOf returns the possible lineups for a command that names these sides, but no result. All
// of them keep the result of the match. The named people determine which lineups are possible:
//   - If no player of the match is named, the first side is the side that the card shows first.
//   - If one order of the sides leaves each named player of the match on their side, the only
//     lineup has that order.
//   - Otherwise, the sides may be meant as given if the command divides them, or if only players of
//     the match are named. Either side may then have won.
//   - If other people are named, the named players of the match may also stay on their sides, and
//     the others take the free places. If one place is free on each side, there are two ways to
//     take them.
//
// It returns none if the numbers of players on the sides differ from those in the match, or if both
// sides have free places and one has several. If the command does not divide the sides, the numbers
// of new players on them do not matter.
func (m *StoredMatch) lineupsOf(sides [2][]ladder.PlayerID, divided bool) (all []lineup) {
	add := func(sides [2][]ladder.PlayerID) (fits bool) {
		players, fits := m.inPositions(sides)
		if fits {
			all = append(all, lineup{players, m.Result})
		}
		return fits
	}
	exchanged := swappedSides(sides)
	var staying [2][]ladder.PlayerID
	var added []ladder.PlayerID
	for _, p := range slices.Concat(sides[0], sides[1]) {
		switch {
		case slices.Contains(m.Players[0], p):
			staying[0] = append(staying[0], p)
		case slices.Contains(m.Players[1], p):
			staying[1] = append(staying[1], p)
		default:
			added = append(added, p)
		}
	}
	stay := len(staying[0]) + len(staying[1])
	if stay == 0 && m.SidesSwapped {
		sides, exchanged = exchanged, sides
	}
	if m.staying(sides) == stay && add(sides) || m.staying(exchanged) == stay && add(exchanged) {
		return all
	}
	with := func(a, b []ladder.PlayerID) [2][]ladder.PlayerID {
		return [2][]ladder.PlayerID{slices.Concat(staying[0], a), slices.Concat(staying[1], b)}
	}
	if divided || len(added) == 0 {
		if !add(sides) || m.Result.A != m.Result.B {
			add(exchanged)
		}
	}
	switch {
	case len(added) == 0, divided && len(all) == 0: // nobody to add, or the sides do not fit
	case len(staying[0]) == len(m.Players[0]):
		add(with(nil, added))
	case len(staying[1]) == len(m.Players[1]):
		add(with(added, nil))
	case len(added) == 2:
		add(with(added[:1], added[1:]))
		add(with(added[1:], added[:1]))
	}
	return all
}

// isOf reports whether a person is a player of the match.
func (m *StoredMatch) isOf(k Known) bool {
	return k.Player != nil && slices.Contains(m.players(), k.Player.ID)
}

func swappedSides(sides [2][]ladder.PlayerID) [2][]ladder.PlayerID {
	return [2][]ladder.PlayerID{sides[1], sides[0]}
}

// staying returns how many players are on the same side in the match and in the given sides.
func (m *StoredMatch) staying(sides [2][]ladder.PlayerID) (n int) {
	for side, players := range sides {
		for _, p := range players {
			if slices.Contains(m.Players[side], p) {
				n++
			}
		}
	}
	return n
}

// inPositions orders the players of each side. A player who stays on a side keeps the position
// there, and the others take the remaining positions in order. ok is false if the numbers of
// players on the sides differ from those in the match.
func (m *StoredMatch) inPositions(sides [2][]ladder.PlayerID) (ordered [2][]ladder.PlayerID, ok bool) {
	for side, before := range m.Players {
		if len(sides[side]) != len(before) {
			return ordered, false
		}
		stays := func(p ladder.PlayerID) bool { return slices.Contains(before, p) }
		others := slices.DeleteFunc(slices.Clone(sides[side]), stays)
		for _, p := range before {
			if !slices.Contains(sides[side], p) {
				p, others = others[0], others[1:]
			}
			ordered[side] = append(ordered[side], p)
		}
	}
	return ordered, true
}

// changesTo returns the changes that give the match the players of a lineup: one for each player of
// the lineup, or nil if the match already has these players in these positions.
func (m *StoredMatch) changesTo(l lineup) (all []ladder.ReplacedPlayer) {
	players := slices.Concat(l.players[0], l.players[1])
	left := slices.DeleteFunc(m.players(), func(p ladder.PlayerID) bool { return slices.Contains(players, p) })
	for side := range l.players {
		for i, p := range l.players[side] {
			r := ladder.ReplacedPlayer{Match: m.ID, From: p, To: p, Side: side + 1, Place: len(all) + 1}
			if !slices.Contains(m.players(), p) {
				at := max(0, slices.Index(left, m.Players[side][i]))
				r.From = left[at]
				left = slices.Delete(left, at, at+1)
			}
			all = append(all, r)
		}
	}
	if slices.Equal(players, m.players()) {
		return nil
	}
	return all
}
