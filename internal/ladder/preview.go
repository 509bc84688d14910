package ladder

import "elobot/internal/elo"

// ExpectedScore returns the expected score, between 0 and 1, of side a against side b.
func ExpectedScore(a, b []Standing) float64 { return elo.ExpectedOf(ratingsOf(a), ratingsOf(b)) }

func ratingsOf(side []Standing) []int {
	ratings := make([]int, len(side))
	for i, s := range side {
		ratings[i] = s.Elo
	}
	return ratings
}

// Preview returns by how much a match with this score would change the rating of each player, in
// the order of sides. The standings need no ids.
func (r RatingRules) Preview(score Score, sides [2][]Standing) (changes [2][]int) {
	m := Match{RatingRules: r, Result: Result{Score: score}}
	var standings []*Standing
	for i, side := range sides {
		for _, s := range side {
			m.Parts, standings = append(m.Parts, Part{Player: s.Player, Side: i + 1}), append(standings, &s)
		}
	}
	entries, _ := play(&m, standings)
	for i, e := range entries {
		side := &changes[m.Parts[i].Side-1]
		*side = append(*side, e.After-e.Before)
	}
	return changes
}
