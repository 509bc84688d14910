package stats

import "elobot/internal/notice"

// MyStandings shows a player's standings in up to MaxGroups ladders of all groups. It omits groups
// that the player or the bot has left, and ladders in which the player has not played.
type MyStandings struct {
	Groups []GroupStanding `json:"groups"`
	More   int             `json:"more,omitempty"` // number of standings left out
}

var _ = notice.Register[MyStandings](notice.Kind{Name: "my_standings", Purpose: notice.Answer, Alone: true})

// GroupStanding is a player's standing in a ladder of a group.
type GroupStanding struct {
	Title    string `json:"title"`
	Position int    `json:"position"` // 0 for a player without a place
	Total    int    `json:"total"`    // number of players with a place
	// PlaceMatches is the number of matches a player needs for a place.
	PlaceMatches int  `json:"place_matches,omitempty"`
	Elo          int  `json:"elo"`
	Won          int  `json:"won"`
	Drawn        int  `json:"drawn"`
	Lost         int  `json:"lost"`
	NoDraws      bool `json:"no_draws,omitempty"` // the ladder's rules exclude draws
	// Inactive is set if the ranking hides the player, who has not played for a while.
	Inactive bool `json:"inactive,omitempty"`
}

// Played returns the number of the player's matches.
func (g GroupStanding) Played() int { return g.Won + g.Drawn + g.Lost }
