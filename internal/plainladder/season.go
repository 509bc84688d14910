package plainladder

import (
	"cmp"
	"math"
	"slices"
)

// Begin returns the rating with which a player begins a season. before is the player's standing at
// the end of the previous season. A player who played in that season begins halfway between start
// and the previous rating, rounded toward start, if halfway is true. All others begin with start.
func Begin(before Standing, start int, halfway bool) int {
	if !halfway || before.Played == 0 {
		return start
	}
	return start + int(math.Trunc(float64(before.Elo-start)/2))
}

// Season is the input for a season's table and for the careers of its players.
type Season struct {
	Number       int
	Over         bool
	PlaceMatches int        // number of matches that a player needs for a place
	Standings    []Standing // in the order in which the players entered
	Left         []string   // players who left the group; the table of a current season omits them
	Upsets       map[int]int
	Order        []int // the match numbers in playing order, to break ties between upsets
}

// TableRow is a player's row in the table of a season.
type TableRow struct {
	Who                          string
	Place, Elo, Won, Drawn, Lost int // Place is 0 for a player without a place
}

// Best is the highest value that a player reached in a season, and that player. It is zero if no
// player qualifies.
type Best struct {
	Who   string
	Value int
}

// Table is the table of a season.
type Table struct {
	Rows           []TableRow // players with places first
	Medals         bool
	Played, Streak Best // most matches, most wins in a row; in a tie, the highest-rated player
	Upset, By      int  // match number and rating difference of the largest upset; 0 for none
}

const (
	// leastMedals is the number of players who must have played before there are medals. It is also
	// the number of players who must have played PlaceMatches matches before a place requires that
	// many.
	leastMedals = 3
	// leastStreak is the shortest run of wins to show.
	leastStreak = 2
)

// Table calculates the table of the season. Players with equal ratings share a place.
func (s Season) Table() (t Table) {
	var played []Standing
	for _, p := range s.Standings {
		if p.Played > 0 && (s.Over || !slices.Contains(s.Left, p.Who)) {
			played = append(played, p)
		}
	}
	slices.SortStableFunc(played, func(a, b Standing) int { return cmp.Compare(b.Elo, a.Elo) })
	enough := func(p Standing) bool { return p.Played >= s.PlaceMatches }
	placed := slices.DeleteFunc(slices.Clone(played), func(p Standing) bool { return !enough(p) })
	others := slices.DeleteFunc(slices.Clone(played), enough)
	if len(placed) < leastMedals {
		placed, others = played, nil
	}
	for _, p := range placed {
		better := 0
		for _, other := range placed {
			if other.Elo > p.Elo {
				better++
			}
		}
		t.Rows = append(t.Rows, TableRow{p.Who, better + 1, p.Elo, p.Won, p.Drawn, p.Lost})
	}
	for _, p := range others {
		t.Rows = append(t.Rows, TableRow{p.Who, 0, p.Elo, p.Won, p.Drawn, p.Lost})
	}
	t.Medals = len(played) >= leastMedals
	for _, p := range played {
		if p.Played > t.Played.Value {
			t.Played = Best{p.Who, p.Played}
		}
		if p.Longest >= leastStreak && p.Longest > t.Streak.Value {
			t.Streak = Best{p.Who, p.Longest}
		}
	}
	for number, by := range s.Upsets {
		if by > t.By || by == t.By && slices.Index(s.Order, number) < slices.Index(s.Order, t.Upset) {
			t.Upset, t.By = number, by
		}
	}
	return t
}

// Career is a player's achievements over all seasons. Titles counts the seasons that the player
// won, as long as they are over and have medals. Best is the player's highest rating, and BestIn is
// the number of the first season in which the player reached it.
type Career struct {
	Who                                             string
	Titles, Seasons, Won, Drawn, Lost, Best, BestIn int
}

// Careers returns the careers, by name, of all players who have played in at least one season.
func Careers(seasons []Season) map[string]Career {
	all := make(map[string]Career)
	for _, s := range seasons {
		table := s.Table()
		for _, p := range s.Standings {
			if p.Played == 0 {
				continue
			}
			c := all[p.Who]
			c.Who, c.Seasons, c.Won, c.Drawn, c.Lost = p.Who, c.Seasons+1, c.Won+p.Won, c.Drawn+p.Drawn, c.Lost+p.Lost
			if p.Best > c.Best {
				c.Best, c.BestIn = p.Best, s.Number
			}
			if slices.ContainsFunc(table.Rows, func(r TableRow) bool { return r.Who == p.Who && r.Place == 1 }) &&
				s.Over && table.Medals {
				c.Titles++
			}
			all[p.Who] = c
		}
	}
	return all
}
