package ranking

import (
	"cmp"
	"slices"

	"elobot/internal/ladder"
)

const maxMoved = 12

// moved returns the ratings that a rewrite changes. The ratings of the players in first lead the
// list, even if they do not change. The others follow, largest change first. If there are more than
// maxMoved ratings in total, the others with the smallest changes are only counted.
func moved(h ladder.History, w ladder.Rewrite, first []ladder.PlayerID) Moved {
	now := make(map[ladder.PlayerID]int, len(w.Standings))
	for _, s := range w.Standings {
		now[s.Player] = s.Elo
	}
	var named, others []RatingChange
	for _, s := range h.Standings {
		after, rewritten := now[s.Player]
		if !rewritten {
			after = s.Elo
		}
		change := RatingChange{Name: Name{Player: s.Player}, Before: s.Elo, After: after}
		switch {
		case slices.Contains(first, s.Player):
			named = append(named, change)
		case after != s.Elo:
			others = append(others, change)
		}
	}
	slices.SortStableFunc(others, func(a, b RatingChange) int { return cmp.Compare(b.distance(), a.distance()) })
	room := min(len(others), max(0, maxMoved-len(named)))
	return Moved{Ratings: append(named, others[:room]...), Others: len(others) - room, Season: h.Over}
}

func (r RatingChange) distance() int { return max(r.After-r.Before, r.Before-r.After) }
