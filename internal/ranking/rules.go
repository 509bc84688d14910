package ranking

import "elobot/internal/ladder"

// Rules are the rules of a ladder. Their JSON names are column names of the ladders table. The
// database checks the ranges of the numbers.
type Rules struct {
	Start        int `json:"start_elo"`     // the rating with which new players start
	PlaceMatches int `json:"place_matches"` // number of matches needed for a place in the ranking
	// HideDays is the number of days without a match after which the ranking hides a player, or 0
	// to hide no players.
	HideDays           int  `json:"hide_days"`
	DrawsAllowed       bool `json:"draws_allowed"`
	UnevenTeamsAllowed bool `json:"uneven_teams_allowed"` // the sides may differ in size
	Reporters          Who  `json:"reporters"`            // who may report matches; Involved are those who played
	OnlyJoined         bool `json:"only_joined"`          // reports name only people who have joined
	// Halfway is set if a player who has played in a season starts the next season halfway between
	// their final rating and the start rating.
	Halfway bool `json:"season_halfway"`
	// SeasonMonths is the length of an automatic season in calendar months: 1, 3, or 0 if admins
	// start each season.
	SeasonMonths int `json:"season_months"`
	ladder.RatingRules
}

// DefaultRules returns the rules of a new ladder.
func DefaultRules() Rules {
	return Rules{Start: 1500, PlaceMatches: 3, HideDays: 60, DrawsAllowed: true, RatingRules: ladder.RatingRules{K: 32}}
}
