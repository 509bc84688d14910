package stats

import "elobot/internal/ranking"

// The kinds of notices of this package.
const (
	KindRankingPage = "ranking_page"
	KindMyStanding  = "my_standing"
	KindMyStandings = "my_standings"
)

// RankingPage shows a page of a ladder's ranking.
type RankingPage struct {
	Title string         `json:"title"`          // of the group
	Page  int            `json:"page,omitempty"` // number of the page, from 1
	Rows  []Row          `json:"rows"`
	Total int            `json:"total"`           // number of ranked players
	Asker ranking.UserID `json:"asker,omitempty"` // who asked for the ranking; 0 for an anonymous admin
	Own   *Row           `json:"own,omitempty"`   // the asker's row, if it is not among Rows
}

// Bounds returns which of the ranked players the page shows, counted from 1.
func (p RankingPage) Bounds() (first, last int) {
	first = 1 + max(0, p.Page-1)*PageRows
	return first, first + len(p.Rows) - 1
}

// Row is one line of a ranking. Equal ratings share a position.
type Row struct {
	Position int          `json:"position"`
	Name     ranking.Name `json:"name"`
	Elo      int          `json:"elo"`
	Won      int          `json:"won"`
	Drawn    int          `json:"drawn"`
	Lost     int          `json:"lost"`
}

// Kind implements ranking.Notice.
func (RankingPage) Kind() string { return KindRankingPage }

// Purpose implements ranking.Notice.
func (RankingPage) Purpose() ranking.Purpose { return ranking.Answer }

// Alone makes ranking.IsAlone true.
func (RankingPage) Alone() bool { return true }

// MyStanding shows a player's standing in a group, to that player or to somebody else.
type MyStanding struct {
	Name     ranking.Name `json:"name,omitzero"`      // zero for a person without a standing
	Position int          `json:"position,omitempty"` // 0 for a player who is not shown in the ranking
	Total    int          `json:"total,omitempty"`    // number of ranked players
	Elo      int          `json:"elo,omitempty"`
	Best     int          `json:"best,omitempty"`
	Won      int          `json:"won,omitempty"`
	Drawn    int          `json:"drawn,omitempty"`
	Lost     int          `json:"lost,omitempty"`
	Streak   int          `json:"streak,omitempty"` // wins in a row, or losses in a row as a negative number
	// Left is true for a player who left the group. The ranking does not show them until they play or join again.
	Left bool `json:"left,omitempty"`
	// Other is true if it is shown to somebody else. Then the Name is never zero.
	Other bool `json:"other,omitempty"`
}

// Kind implements ranking.Notice.
func (MyStanding) Kind() string { return KindMyStanding }

// Purpose implements ranking.Notice.
func (MyStanding) Purpose() ranking.Purpose { return ranking.Answer }

// MyStandings shows a player's standings in all groups in which they are ranked.
type MyStandings struct {
	Groups []GroupStanding `json:"groups"`
	More   int             `json:"more,omitempty"` // number of groups that are not listed
}

// GroupStanding is a player's standing in one of their groups.
type GroupStanding struct {
	Title    string `json:"title"`
	Position int    `json:"position"`
	Total    int    `json:"total"` // number of ranked players
	Elo      int    `json:"elo"`
	Won      int    `json:"won"`
	Drawn    int    `json:"drawn"`
	Lost     int    `json:"lost"`
}

// Kind implements ranking.Notice.
func (MyStandings) Kind() string { return KindMyStandings }

// Purpose implements ranking.Notice.
func (MyStandings) Purpose() ranking.Purpose { return ranking.Answer }

// Alone makes ranking.IsAlone true.
func (MyStandings) Alone() bool { return true }
