package ranking

import "elobot/internal/ladder"

// Rules are the rules of a ladder. In JSON, its fields have the names of the ladder's columns. The
// database holds the ranges of the numbers.
type Rules struct {
	Start              int  `json:"start_elo"`     // the rating of a newcomer
	PlaceMatches       int  `json:"place_matches"` // how many matches give a place in the ranking
	HideDays           int  `json:"hide_days"`     // for how many days the ranking shows somebody who does not play, 0 for ever
	DrawsAllowed       bool `json:"draws_allowed"`
	UnevenTeamsAllowed bool `json:"uneven_teams_allowed"` // the sides may differ in size
	// Halfway reports whether people begin a season half-way between the rating with which they
	// ended the one before and the start rating.
	Halfway bool `json:"season_halfway"`
	// SeasonMonths is how many calendar months an automatic season lasts: 1, 3, or 0 if admins
	// start each season.
	SeasonMonths int `json:"season_months"`
	ladder.RatingRules
}

// DefaultRules are the rules of a new ladder.
func DefaultRules() Rules {
	return Rules{Start: 1500, PlaceMatches: 3, HideDays: 60, DrawsAllowed: true, RatingRules: ladder.RatingRules{K: 32}}
}
