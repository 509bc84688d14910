package plainladder

import (
	"cmp"
	"math"
	"slices"
)

// Begin returns the rating with which a player begins the season after one that they ended with a standing: the start rating, or half-way
// back to it.
func Begin(before Standing, start int, halfway bool) int {
	if !halfway || before.Played == 0 {
		return start
	}
	return start + int(math.Trunc(float64(before.Elo-start)/2))
}

// Season is how a season stands or has ended.
type Season struct {
	Number       int
	Over         bool
	PlaceMatches int        // so many matches give a place
	Standings    []Standing // in the order in which the players entered
	Left         []string   // who has left the group: they are not in the table as long as the season goes on
	Upsets       map[int]int
}

// TableRow is a player in the table of a season.
type TableRow struct {
	Who                          string
	Place, Elo, Won, Drawn, Lost int // Place 0 for none
}

// Best is the most of something, and who has it.
type Best struct {
	Who   string
	Value int
}

// Table is the table of a season.
type Table struct {
	Rows           []TableRow // those with places first
	Medals         bool
	Played, Streak Best // of several, of the one who is rated highest; zero for none
	Upset, By      int  // the number of the match, and how much
}

const (
	// leastMedals is how many must have played for medals, and how many must have played enough for only those to have places.
	leastMedals = 3
	// leastStreak is how many wins in a row are told.
	leastStreak = 2
)

// Table makes the table.
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

// Careers are those of all who have played.
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
