package bot

import (
	"fmt"

	"elobot/internal/ranking"
)

func goldenMe() map[string]ranking.Notice {
	me := ranking.MyStanding{
		Name: called("Alice"), Position: 3, Total: 12, Elo: 1532, Best: 1560, Won: 12, Drawn: 1, Lost: 5, Streak: 3,
	}
	with := func(change func(*ranking.MyStanding)) ranking.MyStanding {
		n := me
		change(&n)
		return n
	}
	groups := func(n int) []ranking.GroupStanding {
		var all []ranking.GroupStanding
		for i := range n {
			all = append(all, ranking.GroupStanding{
				Title: fmt.Sprintf("Club %d", i+1), Position: i + 1, Total: 30, Elo: 1700 - 10*i, Won: 30 - i, Drawn: i % 3, Lost: i,
			})
		}
		return all
	}
	hostileGroup := ranking.GroupStanding{Title: hostile, Position: 1, Total: 2, Elo: 1516, Won: 1}
	return map[string]ranking.Notice{
		"wins":           me,
		"losses":         with(func(n *ranking.MyStanding) { n.Streak = -2 }),
		"no_streak":      with(func(n *ranking.MyStanding) { n.Streak = 1 }),
		"one_lost":       with(func(n *ranking.MyStanding) { n.Streak = -1 }),
		"hostile":        with(func(n *ranking.MyStanding) { n.Name = ranking.Name{Name: hostile, Mark: "2"} }),
		"left":           with(func(n *ranking.MyStanding) { n.Position, n.Left = 0, true }),
		"joined":         ranking.MyStanding{Name: called("Alice"), Total: 3, Elo: 1500, Best: 1500},
		"unknown":        ranking.MyStanding{Total: 3},
		"groups_none":    ranking.MyStandings{},
		"groups_one":     ranking.MyStandings{Groups: groups(1)},
		"groups_hostile": ranking.MyStandings{Groups: []ranking.GroupStanding{hostileGroup, {Position: 2, Total: 2, Elo: 1484, Lost: 1}}},
		"groups_twenty":  ranking.MyStandings{Groups: groups(20)},
		"groups_more":    ranking.MyStandings{Groups: groups(20), More: 1},
		"groups_many":    ranking.MyStandings{Groups: groups(20), More: 7},
	}
}
