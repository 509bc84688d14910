package bot

import (
	"fmt"

	"elobot/internal/ranking"
	"elobot/internal/stats"
)

func goldenMe() map[string]ranking.Notice {
	me := stats.MyStanding{
		Name: called("Alice"), Position: 3, Total: 12, Elo: 1532, Best: 1560, Won: 12, Drawn: 1, Lost: 5, Streak: 3,
	}
	with := func(change func(*stats.MyStanding)) stats.MyStanding {
		n := me
		change(&n)
		return n
	}
	groups := func(n int) []stats.GroupStanding {
		var all []stats.GroupStanding
		for i := range n {
			all = append(all, stats.GroupStanding{
				Title: fmt.Sprintf("Club %d", i+1), Position: i + 1, Total: 30, Elo: 1700 - 10*i, Won: 30 - i, Drawn: i % 3, Lost: i,
			})
		}
		return all
	}
	hostileGroup := stats.GroupStanding{Title: hostile, Position: 1, Total: 2, Elo: 1516, Won: 1}
	return map[string]ranking.Notice{
		"wins":           me,
		"losses":         with(func(n *stats.MyStanding) { n.Streak = -2 }),
		"no_streak":      with(func(n *stats.MyStanding) { n.Streak = 1 }),
		"one_lost":       with(func(n *stats.MyStanding) { n.Streak = -1 }),
		"hostile":        with(func(n *stats.MyStanding) { n.Name = ranking.Name{Name: hostile, Mark: "2"} }),
		"left":           with(func(n *stats.MyStanding) { n.Position, n.Left = 0, true }),
		"joined":         stats.MyStanding{Name: called("Alice"), Total: 3, Elo: 1500, Best: 1500},
		"unknown":        stats.MyStanding{Total: 3},
		"of_other":       with(func(n *stats.MyStanding) { n.Other = true }),
		"of_hostile":     with(func(n *stats.MyStanding) { n.Other, n.Name = true, called(hostile) }),
		"of_left":        with(func(n *stats.MyStanding) { n.Other, n.Position, n.Left = true, 0, true }),
		"of_not_played":  stats.MyStanding{Name: called("Bob"), Total: 3, Other: true},
		"groups_none":    stats.MyStandings{},
		"groups_one":     stats.MyStandings{Groups: groups(1)},
		"groups_hostile": stats.MyStandings{Groups: []stats.GroupStanding{hostileGroup, {Position: 2, Total: 2, Elo: 1484, Lost: 1}}},
		"groups_twenty":  stats.MyStandings{Groups: groups(20)},
		"groups_more":    stats.MyStandings{Groups: groups(20), More: 1},
		"groups_many":    stats.MyStandings{Groups: groups(20), More: 7},
	}
}
