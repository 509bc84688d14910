package bot

import (
	"fmt"
	"slices"
	"time"

	"elobot/internal/notice"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// rankingRows returns the first n rows of a ranking.
func rankingRows(n int) []stats.Row {
	var all []stats.Row
	for i := range n {
		all = append(all, stats.Row{
			Position: i + 1, Name: called(fmt.Sprintf("Player %c", 'A'+i)), Elo: 1700 - 10*i, Won: 30 - i, Drawn: i % 3, Lost: i,
		})
	}
	return all
}

// newcomers returns rows of players without a place.
func newcomers() []stats.Row {
	return []stats.Row{
		{Name: called("Nora"), Elo: 1532, Won: 2}, {Name: called("Nico"), Elo: 1516, Won: 3, Lost: 1}, {Name: called("Noah"), Elo: 1484, Lost: 1},
	}
}

func goldenRankings() map[string]notice.Notice {
	unplaced := newcomers() // the first two have played enough matches
	unplaced[0].Lost, unplaced[1].Lost = 5, 5
	own := stats.Row{Position: 27, Name: called("Zoë"), Elo: 1388, Won: 1, Lost: 9, Mine: true}
	tied := rankingRows(4)
	tied[1].Position, tied[1].Elo = 1, tied[0].Elo
	tied[2].Position = 3
	tied[2].Name, tied[3].Name = ranking.Name{Name: "Bob", Mark: "bob"}, ranking.Name{Name: "Bob", Mark: "2"}
	withOwn := func(rows []stats.Row, at int) []stats.Row {
		rows = slices.Clone(rows)
		rows[at].Mine = true
		return rows
	}
	decided := rankingRows(6) // without draws
	for i := range decided {
		decided[i].Drawn, decided[i].Moved = 0, []int{2, -1, 0, 12, 0, -3}[i]
	}
	week := time.Date(2026, time.November, 3, 0, 0, 0, 0, time.UTC)
	ownMoved, ownNew, ownIdle := own, stats.Row{Name: called("Zoë"), Elo: 1500, Mine: true}, own
	ownMoved.Moved, ownIdle.Position, ownIdle.Inactive = 4, 0, true
	page := func(number, total int, rows []stats.Row, change func(*stats.RankingPage)) stats.RankingPage {
		n := stats.RankingPage{Title: "Table tennis", Page: number, Rows: rows, Total: total, Asker: 1001, PlaceMatches: 5}
		if change != nil {
			change(&n)
		}
		return n
	}
	month := time.Date(2026, time.November, 1, 0, 0, 0, 0, time.UTC)
	return map[string]notice.Notice{
		"of_month": stats.Gains{Title: "Table tennis", Since: month, Rows: []stats.GainRow{
			{Name: called("Alice"), Gained: 38, Won: 7, Drawn: 1, Lost: 4}, {Name: called("Zoë"), Drawn: 1}, {Name: called("Bob"), Gained: -38, Lost: 3},
		}},
		"of_month_hostile": stats.Gains{Title: hostile, Since: month, Rows: []stats.GainRow{{Name: called(hostile), Gained: 16, Won: 1}}},
		"of_new_month":     stats.Gains{Since: month},
		"empty":            stats.RankingPage{Title: "Table tennis"},
		"empty_season":     stats.RankingPage{Title: "Table tennis", Season: 2},
		"one":              stats.RankingPage{Title: "Table tennis", Rows: rankingRows(1), Total: 1},
		"without_title":    stats.RankingPage{Rows: rankingRows(2), Total: 2},
		"ten":              page(1, 10, rankingRows(10), nil),
		"first_page":       page(1, 31, withOwn(rankingRows(10), 1), nil),
		"second_page":      page(2, 57, withOwn(rankingRows(20)[10:], 4), nil),
		"last_page":        page(4, 31, []stats.Row{own}, nil),
		"top":              page(0, 31, rankingRows(3), func(n *stats.RankingPage) { n.Own = &own }),
		"anonymous":        page(2, 57, rankingRows(20)[10:], func(n *stats.RankingPage) { n.Asker = 0 }),
		"old_release":      stats.RankingPage{Title: "Table tennis", Rows: rankingRows(20), Total: 31, Own: &own},
		"ties":             stats.RankingPage{Title: "Table tennis", Rows: tied, Total: 4},
		"hostile":          stats.RankingPage{Title: hostile, Rows: []stats.Row{{Position: 1, Name: called(hostile), Elo: 1500, Won: 1}}, Total: 1},
		"moved": page(1, 57, withOwn(decided, 3), func(n *stats.RankingPage) {
			n.NoDraws, n.Since = true, week
		}),
		"all_moved": page(1, 6, decided, func(n *stats.RankingPage) { n.NoDraws, n.Since = true, week }),
		"own_moved": page(3, 57, rankingRows(10), func(n *stats.RankingPage) { n.Own, n.Since = &ownMoved, week }),
		"newcomers": page(1, 9, slices.Concat(decided, withOwn(newcomers(), 1)), func(n *stats.RankingPage) {
			n.NoDraws, n.Since = true, week
		}),
		"newcomers_page": page(3, 23, newcomers(), nil),
		"newcomers_only": page(1, 3, withOwn(newcomers(), 0), func(n *stats.RankingPage) { n.NoDraws, n.Unplaced = true, true }),
		"unplaced":       page(1, 3, unplaced, func(n *stats.RankingPage) { n.Unplaced = true }),
		"own_newcomer":   page(1, 57, decided, func(n *stats.RankingPage) { n.NoDraws, n.Since, n.Own = true, week, &ownNew }),
		"own_inactive":   page(1, 6, decided, func(n *stats.RankingPage) { n.NoDraws, n.Since, n.Own, n.Hidden = true, week, &ownIdle, 1 }),
		"hidden":         page(2, 57, rankingRows(10), func(n *stats.RankingPage) { n.Hidden, n.HideDays = 12, 90 }),
		"all":            page(2, 69, withOwn(rankingRows(10), 9), func(n *stats.RankingPage) { n.All = true }),
		"nobody_active":  page(1, 0, nil, func(n *stats.RankingPage) { n.Own, n.Hidden = &ownIdle, 3 }),
	}
}
