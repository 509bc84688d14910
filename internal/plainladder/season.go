package plainladder

import (
	"cmp"
	"math"
	"slices"
)

// Begin returns the rating with which a player begins the season after one that they ended with the
// given standing: the start rating, or halfway back to it.
func Begin(before Standing, start int, halfway bool) int {
	if !halfway || before.Played == 0 {
		return start
	}
	return start + int(math.Trunc(float64(before.Elo-start)/2))
}

// Season is a current season or one that is over.
type Season struct {
	Number       int
	Over         bool
	PlaceMatches int        // number of matches needed for a place
	Standings    []Standing // in the order in which the players entered
	Left         []string   // players who left the group; the table of a current season omits them
	Upsets       map[int]int
}

// TableRow is a player in the table of a season.
type TableRow struct {
	Who                          string
	Place, Elo, Won, Drawn, Lost int // Place is 0 for none
}

// Best is the largest value of a kind, and the player who has it.
type Best struct {
	Who   string
	Value int
}

// Table is the table of a season.
type Table struct {
	Rows           []TableRow // players with places first
	Medals         bool
	Played, Streak Best // in a tie, the player with the highest rating; zero for none
	Upset, By      int  // the number of the match, and the rating difference
}

const (
	// leastMedals is how many players must have played for medals. It is also how many must have
	// played enough before places require that.
	leastMedals = 3
	// leastStreak is the smallest number of wins in a row to show.
	leastStreak = 2
)

// Table returns the table.
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
		if by > t.By || by == t.By && number < t.Upset {
			t.Upset, t.By = number, by
		}
	}
	return t
}

// Career is what a player has achieved in all seasons.
type Career struct {
	Who                                             string
	Titles, Seasons, Won, Drawn, Lost, Best, BestIn int
}

// Careers returns the careers of all who have played.
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
			if slices.ContainsFunc(table.Rows, func(r TableRow) bool { return r.Who == p.Who && r.Place == 1 }) && s.Over && table.Medals {
				c.Titles++
			}
			all[p.Who] = c
		}
	}
	return all
}
