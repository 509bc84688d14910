package ranking

import "elobot/internal/elo"

// Rules are the rules of a ladder. In JSON, its fields have the names of the ladder's columns. The database holds the ranges of the
// numbers.
type Rules struct {
	Start              int  `json:"start_elo"`     // the rating of a newcomer
	PlaceMatches       int  `json:"place_matches"` // how many matches give a place in the ranking
	DrawsAllowed       bool `json:"draws_allowed"`
	UnevenTeamsAllowed bool `json:"uneven_teams_allowed"` // the sides may differ in size
	RatingRules
}

// DefaultRules are the rules of a new ladder.
func DefaultRules() Rules {
	return Rules{Start: 1500, PlaceMatches: 3, DrawsAllowed: true, RatingRules: RatingRules{K: 32}}
}

// RatingRules are the rules that decide how a match changes ratings. A match keeps those that it was played under.
type RatingRules struct {
	K int `json:"k_factor"`
	Provisional
	// Margin is true if the margin of victory multiplies K by elo.MarginFactor of the score. In a match in sets, the score counts sets.
	Margin bool `json:"margin_of_victory"`
}

// Provisional is another K-factor for a player's first matches in a ladder, zero for none. It lets newcomers reach their level sooner.
// Their opponents keep their own K, so the changes of such a match need not add up to zero.
type Provisional struct {
	K       int `json:"provisional_k_factor"`
	Matches int `json:"provisional_matches"` // how many matches
}

// kAfter returns the K-factor of a player who has played that many matches in the ladder before. Undone matches do not count.
func (r RatingRules) kAfter(played int) int {
	if played < r.Provisional.Matches {
		return r.Provisional.K
	}
	return r.K
}

// marginFactor returns the factor by which the score multiplies K.
func (r RatingRules) marginFactor(s Score) float64 {
	if r.Margin {
		return elo.MarginFactor(s.A, s.B)
	}
	return 1
}
