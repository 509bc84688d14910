package bot

import (
	"time"

	"elobot/internal/notice"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

func goldenSeasons() map[string]notice.Notice {
	since, until := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)
	alice, bob, carol, dave := called("Alice"), called("Bob"), called("Carol"), called("Dave")
	rows := []stats.SeasonRow{
		{Name: alice, Place: 1, Elo: 1642, Next: 1571, Won: 12, Lost: 3}, {Name: bob, Place: 2, Elo: 1510, Won: 7, Drawn: 1, Lost: 7},
		{Name: carol, Place: 2, Elo: 1510, Won: 5, Lost: 5}, {Name: dave, Place: 4, Elo: 1400, Won: 1, Lost: 9}, {Name: called("Eve"), Elo: 1516, Won: 1},
	}
	over := stats.SeasonTable{
		Title: "Chess Club", Number: 2, Name: "Spring", Since: since, Until: until, Over: true, Rows: rows, More: 7,
		Played: &stats.Record{Name: alice, Value: 15}, Streak: &stats.Record{Name: bob, Value: 5},
		Upset: &stats.UpsetBy{Name: carol,
			Upset: stats.Upset{MatchRef: stats.MatchRef{Number: 42, At: since}, By: 180, Beaten: []ranking.Name{alice}}},
	}
	two := stats.SeasonTable{Title: "Chess Club", Number: 1, Until: since, Over: true, Rows: rows[:2], NoDraws: true}
	return map[string]notice.Notice{
		"ask_halfway":  ranking.SeasonPrompt{Tag: "Aa0_-zZ9", Number: 1, Players: 12, Start: 1500, Halfway: true},
		"ask":          ranking.SeasonPrompt{Tag: "Aa0_-zZ9", Number: 1, Players: 12, Start: 1500},
		"hostile_ask":  ranking.SeasonPrompt{Tag: "Aa0_-zZ9", Number: 2, Ended: "Spring", Name: hostile, Players: 1, Start: 1000},
		"started":      ranking.SeasonStarted{Number: 2, Ended: 1},
		"late_press":   ranking.SeasonStarted{Number: 2, Ended: 1, Before: []int{41}},
		"late_presses": ranking.SeasonStarted{Number: 2, Ended: 1, Before: []int{41, 42}},
		"hostile":      ranking.SeasonStarted{Number: 2, Name: hostile, Ended: 1},
		"over":         over,
		"of_two":       two,
		"goes_on":      stats.SeasonTable{Title: "Chess Club", Number: 3, Since: until, Rows: rows[:1]},
		"empty":        stats.SeasonTable{Title: "Chess Club", Number: 1},
		"hostile_one":  stats.SeasonTable{Title: hostile, Number: 2, Name: hostile, Rows: []stats.SeasonRow{{Name: called(hostile), Elo: 1500, Drawn: 1}}},
		"told":         stats.SeasonEnd{SeasonTable: over},
		"all_time": stats.AllSeasons{Title: "Chess Club", More: 1, Rows: []stats.AllTimeRow{
			{Name: alice, Titles: 2, Seasons: 3, Won: 25, Drawn: 1, Lost: 10, Best: 1642, BestIn: 2}, {Name: bob, Seasons: 1, Lost: 1, Best: 1500, BestIn: 1},
		}},
		"all_time_empty": stats.AllSeasons{Title: "Chess Club"},
		"corrected":      stats.SeasonEnd{SeasonTable: over, Corrected: true},
	}
}
