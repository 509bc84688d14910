package bot

import (
	"fmt"
	"time"

	"elobot/internal/notice"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// onDay returns a time on a day of November 2026.
func onDay(day int) time.Time { return time.Date(2026, time.November, day, 18, 30, 0, 0, time.UTC) }

// against returns a match from a player's point of view.
func against(number, day, own, other, change int, names ...string) stats.PlayedMatch {
	m := stats.PlayedMatch{
		MatchRef: stats.MatchRef{Number: number, At: onDay(day)}, Score: [2]int{own, other}, Change: change,
	}
	for _, name := range names {
		m.Against = append(m.Against, called(name))
	}
	return m
}

// everything returns a player's page with all facts that it can have without seasons.
func everything() stats.PlayerStanding {
	alice := called("Alice")
	alice.Player = 1
	return stats.PlayerStanding{
		Name: alice, Position: 3, Total: 12, PlaceMatches: 3, Elo: 1532, Best: 1560, Won: 12, Drawn: 1, Lost: 5, Streak: 3,
		Form: "ldwwlwlwww",
		Last: []stats.PlayedMatch{
			against(57, 21, 3, 1, 12, "Bob"), against(55, 20, 10, 8, 7, "Carol", "Dave"), against(54, 20, 3, 0, 9, "Bob"),
			against(51, 14, 1, 3, -11, "Erik"), against(48, 11, 10, 9, 5, "Carol", "Dave", "Erik"),
		},
		BestIn: &stats.MatchRef{Number: 41, At: onDay(3)},
		Upset: &stats.Upset{MatchRef: stats.MatchRef{Number: 33, At: onDay(1)}, By: 212,
			Beaten: []ranking.Name{called("Erik")}},
		Most:     &stats.Pairing{With: called("Bob"), Played: 9, Won: 6, Drawn: 1, Lost: 2},
		Favorite: &stats.Pairing{With: called("Carol"), Played: 5, Won: 5},
		Hardest:  &stats.Pairing{With: called("Erik"), Played: 6, Won: 1, Lost: 5},
		Partner:  &stats.Pairing{With: called("Fay"), Played: 7, Won: 6, Lost: 1},
	}
}

func goldenMe() map[string]notice.Notice {
	me := stats.PlayerStanding{
		Name: called("Alice"), Position: 3, Total: 12, PlaceMatches: 3, Elo: 1532, Best: 1560,
		Won: 12, Drawn: 1, Lost: 5, Streak: 3, Form: "ldwwlwlwww",
	}
	with := func(of stats.PlayerStanding, change func(*stats.PlayerStanding)) stats.PlayerStanding {
		change(&of)
		return of
	}
	newcomer := stats.PlayerStanding{
		Name: everything().Name, PlaceMatches: 3, Elo: 1509, Best: 1516, Won: 1, Lost: 1, Streak: -1, Form: "wl",
		Last: []stats.PlayedMatch{against(58, 21, 1, 3, -7, "Carol"), against(57, 21, 3, 1, 16, "Bob")},
		Most: &stats.Pairing{With: called("Bob"), Played: 1, Won: 1},
	}
	groups := func(n int) []stats.GroupStanding {
		var all []stats.GroupStanding
		for i := range n {
			all = append(all, stats.GroupStanding{
				Title: fmt.Sprintf("Club %d", i+1), Position: i + 1, Total: 30, Elo: 1700 - 10*i,
				Won: 30 - i, Drawn: i % 3, Lost: i,
			})
		}
		return all
	}
	before := stats.PlayerSeason{Number: 3, Since: onDay(1), Last: 2, Best: 1560, BestIn: 1}
	hostileGroup := stats.GroupStanding{Title: hostile, Position: 1, Total: 2, Elo: 1516, Won: 1}
	return map[string]notice.Notice{
		"wins": me,
		"in_season": with(everything(), func(n *stats.PlayerStanding) {
			n.Season = &stats.PlayerSeason{Number: 3, Name: "Spring", Since: onDay(1), Last: 3, Best: 1642, BestIn: 2}
		}),
		"hostile_season": with(me, func(n *stats.PlayerStanding) {
			n.Season = &stats.PlayerSeason{Number: 2, Name: hostile, Since: onDay(1), Last: 2, Best: 1560, BestIn: 2}
		}),
		"played_before":    stats.PlayerStanding{Name: everything().Name, PlaceMatches: 3, Elo: 1500, Best: 1500, Season: &before},
		"played_before_of": stats.PlayerStanding{Name: everything().Name, PlaceMatches: 3, Elo: 1500, Best: 1500, Season: &before, Other: true},
		"losses":           with(me, func(n *stats.PlayerStanding) { n.Streak = -2 }),
		"no_streak":        with(me, func(n *stats.PlayerStanding) { n.Streak = 1 }),
		"one_lost":         with(me, func(n *stats.PlayerStanding) { n.Streak = -1 }),
		"no_draws":         with(me, func(n *stats.PlayerStanding) { n.NoDraws, n.Drawn = true, 0 }),
		"drawn_earlier":    with(me, func(n *stats.PlayerStanding) { n.NoDraws = true }),
		"hostile":          with(me, func(n *stats.PlayerStanding) { n.Name = ranking.Name{Name: hostile, Mark: "2"} }),
		"everything":       everything(),
		"newcomer":         newcomer,
		"one_match":        with(newcomer, func(n *stats.PlayerStanding) { n.Lost, n.Streak, n.Form, n.Last = 0, 1, "w", n.Last[1:] }),
		"unplaced":         with(everything(), func(n *stats.PlayerStanding) { n.Position, n.Total = 0, 0 }),
		"of_unplaced":      with(me, func(n *stats.PlayerStanding) { n.Other, n.Position, n.Total = true, 0, 0 }),
		"inactive":         with(everything(), func(n *stats.PlayerStanding) { n.Position, n.Total, n.Inactive = 0, 0, true }),
		"left":             with(me, func(n *stats.PlayerStanding) { n.Position, n.Left = 0, true }),
		"joined":           stats.PlayerStanding{Name: called("Alice"), Elo: 1500, Best: 1500},
		"unknown":          stats.PlayerStanding{},
		"of_other":         with(everything(), func(n *stats.PlayerStanding) { n.Other = true }),
		"of_hostile":       with(me, func(n *stats.PlayerStanding) { n.Other, n.Name = true, called(hostile) }),
		"of_left":          with(me, func(n *stats.PlayerStanding) { n.Other, n.Position, n.Left = true, 0, true }),
		"of_newcomer":      with(newcomer, func(n *stats.PlayerStanding) { n.Other = true }),
		"of_inactive":      with(me, func(n *stats.PlayerStanding) { n.Other, n.Position, n.Inactive = true, 0, true }),
		"of_not_played":    stats.PlayerStanding{Name: called("Bob"), Other: true},
		"groups_none":      stats.MyStandings{},
		"groups_one":       stats.MyStandings{Groups: groups(1)},
		"groups_states": stats.MyStandings{Groups: []stats.GroupStanding{
			{Title: "Chess", Position: 1, Total: 9, Elo: 1620, Won: 20, Lost: 3, NoDraws: true}, {Title: "Darts", PlaceMatches: 3, Elo: 1516, Won: 2},
			{Title: "Go", PlaceMatches: 3, Elo: 1520, Won: 3}, {Title: "Padel", PlaceMatches: 3, Inactive: true, Elo: 1480, Won: 5, Lost: 8},
		}},
		"groups_hostile": stats.MyStandings{Groups: []stats.GroupStanding{hostileGroup, {Position: 2, Total: 2, Elo: 1484, Won: 4, Lost: 1}}},
		"groups_twenty":  stats.MyStandings{Groups: groups(20)},
		"groups_more":    stats.MyStandings{Groups: groups(20), More: 1},
		"groups_many":    stats.MyStandings{Groups: groups(20), More: 7},
	}
}
