package bot

import (
	"time"

	"elobot/internal/ladder"
	"elobot/internal/notice"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

func goldenChangedSettings() map[string]notice.Notice {
	return map[string]notice.Notice{
		"k":             ranking.SettingChanged{Name: "k", Before: "32", After: "40"},
		"place":         ranking.SettingChanged{Name: "place", Before: "3", After: "5"},
		"start":         ranking.SettingChanged{Name: "start", Before: "1500", After: "1000"},
		"draws":         ranking.SettingChanged{Name: "draws", Before: "on", After: "off"},
		"uneven":        ranking.SettingChanged{Name: "uneven", Before: "off", After: "on"},
		"reporters":     ranking.SettingChanged{Name: "reporters", Before: "admins", After: "players"},
		"named":         ranking.SettingChanged{Name: "named", Before: "anybody", After: "joined"},
		"margin":        ranking.SettingChanged{Name: "margin", Before: "off", After: "on"},
		"monthly":       ranking.SettingChanged{Name: "seasons", Before: "manual", After: "monthly"},
		"quarterly":     ranking.SettingChanged{Name: "seasons", Before: "monthly", After: "quarterly"},
		"manual":        ranking.SettingChanged{Name: "seasons", Before: "quarterly", After: "manual"},
		"hide":          ranking.SettingChanged{Name: "hide", Before: "60", After: "30"},
		"hide_never":    ranking.SettingChanged{Name: "hide", Before: "60", After: "never"},
		"halfway":       ranking.SettingChanged{Name: "halfway", Before: "off", After: "on"},
		"no_halfway":    ranking.SettingChanged{Name: "halfway", Before: "on", After: "off"},
		"first_match":   ranking.SettingChanged{Name: "provisional", Before: "0:0", After: "64:1"},
		"first_matches": ranking.SettingChanged{Name: "provisional", Before: "0:0", After: "48:10"},
		"no_first":      ranking.SettingChanged{Name: "provisional", Before: "48:10", After: "0:0"},
		"zone":          ranking.SettingChanged{Name: "zone", Before: "UTC", After: "America/New_York"},
		"language":      ranking.SettingChanged{Name: "language", Before: "en", After: "de"},
		"unknown":       ranking.SettingChanged{Name: "of_tomorrow", Before: "1", After: "2"},
		"tables":        ranking.SettingChanged{Name: "tables", Before: "off", After: "on"}, "no_tables": ranking.SettingChanged{Name: "tables", Before: "on", After: "off"},
		"dark_charts": ranking.SettingChanged{Name: "dark_charts", Before: "off", After: "on"}, "light_charts": ranking.SettingChanged{Name: "dark_charts", Before: "on", After: "off"},
		"celebrations": ranking.SettingChanged{Name: "celebrations", Before: "off", After: "on"}, "no_celebrations": ranking.SettingChanged{Name: "celebrations", Before: "on", After: "off"},
		"web": ranking.SettingChanged{Name: "web", Before: "off", After: "on"}, "no_web": ranking.SettingChanged{Name: "web", Before: "on", After: "off"},
		"new_link": ranking.SettingChanged{Name: "web", Before: "on", After: "new"},
	}
}

func goldenWeb() map[string]notice.Notice {
	board, onWeb := stats.Board{RankingPage: page(1516), On: true}, ranking.WebBoard{Group: 5}
	board.Rows, board.Total, board.Web = rankingRows(20), 31, &onWeb
	turned := board.RankingPage
	turned.Page, turned.Rows = 2, turned.Rows[10:]
	return map[string]notice.Notice{
		"on": ranking.WebShown{Web: &onWeb}, "off": ranking.WebShown{}, "board": board, "ranking": turned,
	}
}

func goldenBoards() map[string]notice.Notice {
	board := stats.Board{RankingPage: page(1516), On: true}
	long := board
	long.Rows, long.Total = rankingRows(20), 31
	ended := long
	ended.On, ended.AsOf = false, time.Date(2026, 3, 4, 15, 6, 7, 0, time.UTC)
	return map[string]notice.Notice{
		"on": board, "long": long, "ended": ended, "ended_empty": stats.Board{AsOf: ended.AsOf},
		"is_on": ranking.BoardState{On: true}, "none": ranking.BoardState{}, "turned_on": ranking.BoardState{On: true, Changed: true},
		"moved": ranking.BoardState{On: true, Changed: true, Moved: true}, "turned_off": ranking.BoardState{Changed: true},
		"not_pinned": ranking.BoardNotPinned{},
	}
}

func goldenSettings() map[string]notice.Notice {
	changed := ranking.Rules{Start: 1000, PlaceMatches: 1, UnevenTeamsAllowed: true, SeasonMonths: 3,
		RatingRules: ladder.RatingRules{
			K: 40, Provisional: ladder.Provisional{K: 48, Matches: 10}, Margin: true,
		}}
	alice, hostileName := called("Alice"), called(hostile)
	page := func(rules ranking.Rules, display ranking.Display, by *ranking.Reporter) ranking.SettingsPage {
		return ranking.SettingsPage{GroupSettings: ranking.GroupSettings{Rules: rules, Display: display}, ChangedBy: by}
	}
	all := map[string]notice.Notice{
		"default": page(ranking.DefaultRules(), ranking.DefaultDisplay(), nil),
		"changed": page(changed, ranking.Display{Language: "de-AT", Tables: true, DarkCharts: true, TimeZone: "America/New_York"}, &ranking.Reporter{Name: &alice}),
		"hostile": page(changed, ranking.DefaultDisplay(), &ranking.Reporter{Name: &hostileName}),
	}
	asksZone := page(ranking.DefaultRules(), ranking.DefaultDisplay(), &ranking.Reporter{Name: &alice})
	asksZone.Rules.SeasonMonths, asksZone.Open = 1, ranking.SettingZone
	all["asks_zone"] = asksZone
	typed := asksZone
	typed.ChangedBy, typed.Changed = nil,
		&ranking.SettingChanged{Name: ranking.SettingSeasons, Before: ranking.Manual, After: ranking.Monthly}
	all["typed_asks_zone"] = typed
	for _, open := range settingPages()[1:] {
		n := page(ranking.DefaultRules(), ranking.DefaultDisplay(), nil)
		n.Open = open
		all["open_"+open] = n
	}
	return all
}
