package bot

import (
	"time"

	"elobot/internal/ranking"
	"elobot/internal/stats"
)

func goldenRules() map[string]ranking.Notice {
	usual := ranking.Rules{Start: 1500, DrawsAllowed: true, RatingRules: ranking.RatingRules{K: 32}}
	other := ranking.Rules{Start: 1000, UnevenTeamsAllowed: true, RatingRules: ranking.RatingRules{
		K: 24, Provisional: ranking.Provisional{K: 48, Matches: 10}, Margin: true,
	}}
	changed := func(change func(*ranking.Rules)) ranking.RulesChanged {
		after := usual
		change(&after)
		return ranking.RulesChanged{Before: usual, After: after}
	}
	return map[string]ranking.Notice{
		"one":         changed(func(r *ranking.Rules) { r.K = 40 }),
		"draws":       changed(func(r *ranking.Rules) { r.DrawsAllowed = false }),
		"first_match": changed(func(r *ranking.Rules) { r.Provisional = ranking.Provisional{K: 64, Matches: 1} }),
		"all":         ranking.RulesChanged{Before: usual, After: other},
		"all_back":    ranking.RulesChanged{Before: other, After: usual},
	}
}

func goldenBoards() map[string]ranking.Notice {
	board := stats.Board{RankingPage: page(1516), On: true}
	ended := board
	ended.On, ended.AsOf = false, time.Date(2026, 3, 4, 15, 6, 7, 0, time.UTC)
	return map[string]ranking.Notice{
		"on": board, "ended": ended, "ended_empty": stats.Board{AsOf: ended.AsOf},
		"is_on": ranking.BoardState{On: true}, "none": ranking.BoardState{}, "turned_on": ranking.BoardState{On: true, Changed: true},
		"moved": ranking.BoardState{On: true, Changed: true, Moved: true}, "turned_off": ranking.BoardState{Changed: true},
		"not_pinned": ranking.BoardNotPinned{},
	}
}

func goldenSettings() map[string]ranking.Notice {
	changed := ranking.Rules{Start: 1000, UnevenTeamsAllowed: true, RatingRules: ranking.RatingRules{
		K: 40, Provisional: ranking.Provisional{K: 48, Matches: 10}, Margin: true,
	}}
	alice, hostileName := called("Alice"), called(hostile)
	return map[string]ranking.Notice{
		"default":  ranking.GroupSettings{Rules: ranking.Rules{Start: 1500, DrawsAllowed: true, RatingRules: ranking.RatingRules{K: 32}}},
		"changed":  ranking.GroupSettings{Rules: changed, Display: ranking.Display{Language: "de-AT", Tables: true, NoCelebrations: true, DarkCharts: true}, ChangedBy: &ranking.Reporter{Name: &alice}},
		"language": ranking.LanguageChanged{Language: "de"},
		"tables":   ranking.TablesChanged{Tables: true}, "no_tables": ranking.TablesChanged{},
		"dark_charts": ranking.DarkChartsChanged{Dark: true}, "light_charts": ranking.DarkChartsChanged{},
		"celebrations": ranking.CelebrationsChanged{Celebrations: true}, "no_celebrations": ranking.CelebrationsChanged{},
		"hostile": ranking.GroupSettings{Rules: changed, ChangedBy: &ranking.Reporter{Name: &hostileName}},
	}
}
