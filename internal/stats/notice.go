package stats

import "elobot/internal/ranking"

// The kinds of notices of this package.
const (
	KindRankingPage = "ranking_page"
	KindMyStanding  = "my_standing"
	KindMyStandings = "my_standings"
)

// MyStandings shows a player's standings in all groups in which they have played.
type MyStandings struct {
	Groups []GroupStanding `json:"groups"`
	More   int             `json:"more,omitempty"` // number of groups that are not listed
}

// GroupStanding is a player's standing in one of their groups.
type GroupStanding struct {
	Title    string `json:"title"`
	Position int    `json:"position"` // 0 for a player who has no place in the ranking
	Total    int    `json:"total"`    // number of players who have one
	Elo      int    `json:"elo"`
	Won      int    `json:"won"`
	Drawn    int    `json:"drawn"`
	Lost     int    `json:"lost"`
	NoDraws  bool   `json:"no_draws,omitempty"` // the ladder has none
}

// Played returns the number of matches.
func (g GroupStanding) Played() int { return g.Won + g.Drawn + g.Lost }

// Kind implements ranking.Notice.
func (MyStandings) Kind() string { return KindMyStandings }

// Purpose implements ranking.Notice.
func (MyStandings) Purpose() ranking.Purpose { return ranking.Answer }

// Alone makes ranking.IsAlone true.
func (MyStandings) Alone() bool { return true }
