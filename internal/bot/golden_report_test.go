package bot

import (
	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/ranking"
)

func goldenReportPrompts() map[string]ranking.Notice {
	alice, bob, carol, zoe := called("Alice"), called("Bob"), called("@carol"), called("Zoe")
	result := func(a, b ranking.Name, scoreA, scoreB int, sets ...ranking.SetScore) ranking.NamedResult {
		return ranking.NamedResult{Sides: [2][]ranking.Name{{a}, {b}}, Score: [2]int{scoreA, scoreB}, Sets: sets}
	}
	option := func(results ...ranking.NamedResult) ranking.ReportOption {
		return ranking.ReportOption{Results: results}
	}
	who := func(n ranking.Name, isNew bool) ranking.ReportOption {
		return ranking.ReportOption{Results: []ranking.NamedResult{result(alice, n, 3, 1)}, Who: &n, New: isNew}
	}
	asks := func(doubt command.Doubt, word string, options ...ranking.ReportOption) ranking.ReportPrompt {
		return ranking.ReportPrompt{Doubt: doubt, Word: word, Options: options}
	}
	guest := func(name string) ranking.ReportOption {
		o := option(result(alice, called(name), 3, 1))
		o.Who, o.New, o.Guest = new(called(name)), true, true
		return o
	}
	repeats := func(earlier ranking.EarlierReport) ranking.ReportPrompt {
		n := asks(ranking.DoubtDuplicate, "", option(result(alice, bob, 3, 1)))
		n.Earlier = &earlier
		return n
	}
	results := asks(command.DoubtResults, "", option(result(alice, bob, 3, 1), result(alice, carol, 3, 2)),
		option(result(bob, carol, 2, 0)))
	results.Tag = "Aa0_-zZ9"
	several := asks(ranking.DoubtDuplicate, "", option(result(alice, bob, 3, 1), result(alice, zoe, 0, 3)),
		option(result(alice, bob, 3, 1)), option(result(alice, zoe, 0, 3)))
	several.Earlier = &ranking.EarlierReport{Number: 42, By: ranking.Reporter{Name: &bob},
		Result: new(result(alice, bob, 3, 1))}
	several.MoreEarlier = []ranking.EarlierReport{
		{Number: 40, By: ranking.Reporter{Name: &alice}, Same: true, Result: new(result(alice, zoe, 0, 3))}}
	completes := repeats(ranking.EarlierReport{Number: 42, By: ranking.Reporter{Name: &bob}})
	completes.Completes = true
	sets := []ranking.SetScore{{11, 5}, {9, 11}, {11, 7}, {11, 9}}
	marked := bob
	marked.Mark = "@bobby"
	hostileName := called(hostile)
	teams := ranking.NamedResult{Sides: [2][]ranking.Name{{alice, bob}, {carol, zoe}}, Score: [2]int{10, 8}}
	standIn := ranking.NamedResult{
		Sides: [2][]ranking.Name{{alice}, {carol, zoe}}, StandIns: [2]int{1, 0}, Score: [2]int{10, 8},
	}
	named := ranking.NamedResult{Sides: [2][]ranking.Name{{alice, called("Guest")}, {carol, zoe}}, Score: standIn.Score}
	players := asks(ranking.DoubtPlayers, "", option(result(alice, carol, 3, 1)))
	players.Earlier = &ranking.EarlierReport{Number: 42, Result: new(result(alice, bob, 3, 1))}
	lineup := asks(ranking.DoubtLineup, "", option(result(alice, carol, 3, 1)), option(result(carol, alice, 3, 1)))
	lineup.Earlier = players.Earlier
	return map[string]ranking.Notice{
		"results": results, "players": players, "lineup": lineup,
		"total": asks(command.DoubtTotal, "", option(result(alice, bob, 3, 1, sets...)),
			option(result(alice, bob, 4, 1, append([]ranking.SetScore{{3, 1}}, sets...)...))),
		"counts":               asks(command.DoubtCounts, "", option(result(alice, bob, 5, 4)), option(result(alice, bob, 2, 2))),
		"half":                 asks(command.DoubtHalf, "", option(result(alice, bob, 1, 2)), option(result(alice, bob, ladder.Half, ladder.Half))),
		"winner":               asks(command.DoubtWinner, "", option(result(alice, bob, 3, 1)), option(result(alice, bob, 1, 3))),
		"winner_no_score":      asks(command.DoubtWinner, "", option(result(alice, bob, 1, 2)), option(result(alice, bob, -1, -1)), option(result(alice, bob, 0, -1))),
		"duplicate_completes":  completes,
		"winner_teams":         asks(command.DoubtWinner, "", option(teams), option(ranking.NamedResult{Sides: [2][]ranking.Name{teams.Sides[1], teams.Sides[0]}, Score: teams.Score})),
		"name":                 asks(command.DoubtName, "bob", who(bob, false), who(marked, false)),
		"name_or_stand_in":     asks(command.DoubtName, "guest", option(standIn), option(named)),
		"unknown_name":         asks(command.DoubtUnknownName, "bobb", who(bob, false), who(zoe, false)),
		"unknown_name_guest":   asks(command.DoubtUnknownName, "bobb", who(bob, false), guest("bobb")),
		"new_guest":            asks(command.DoubtUnknownName, "Tom", guest("Tom")),
		"username":             asks(ranking.DoubtUsername, "bobb", who(bob, false), who(called("@bobb"), true)),
		"game":                 asks(ranking.DoubtGame, "chess", ranking.ReportOption{Ladder: "tennis"}, ranking.ReportOption{Ladder: "padel"}),
		"line":                 asks(command.DoubtLine, "@dave 3:x", option(result(alice, bob, 3, 1), result(alice, carol, 3, 2))),
		"line_and_one":         asks(command.DoubtLine, "what a game", option(result(alice, bob, 3, 1))),
		"duplicate":            repeats(ranking.EarlierReport{Number: 42, By: ranking.Reporter{Name: &bob}}),
		"duplicate_as_group":   repeats(ranking.EarlierReport{Number: 42}),
		"duplicate_of_oneself": repeats(ranking.EarlierReport{Number: 42, By: ranking.Reporter{Name: &alice}, Same: true}),
		"duplicate_of_several": several,
		"hostile":              asks(command.DoubtUnknownName, hostile, who(hostileName, false), who(hostileName, true)),
		"chosen":               ranking.ReportChosen{Results: []ranking.NamedResult{result(alice, bob, 3, 1), teams}, By: ranking.Reporter{Name: &zoe}},
		"canceled":             ranking.ReportDropped{By: &ranking.Reporter{Name: &zoe}, Results: []ranking.NamedResult{result(alice, bob, 3, 1)}},
		"canceled_as_group":    ranking.ReportDropped{By: &ranking.Reporter{}},
		"expired":              ranking.ReportDropped{},
		"expired_in_part":      ranking.ReportDropped{Results: []ranking.NamedResult{result(alice, bob, 3, 1), result(alice, carol, 3, 2)}},
		"match_kept":           ranking.ReportDropped{Kept: true},
	}
}

func goldenWhich() map[string]ranking.Notice {
	zoe := called("Zoe")
	item := func(number int, a, b string) ranking.WhichItem {
		return ranking.WhichItem{Number: number, NamedResult: ranking.NamedResult{
			Sides: [2][]ranking.Name{{called(a)}, {called(b)}}, Score: [2]int{3, 1},
		}}
	}
	var many []ranking.WhichItem
	for i := range 9 {
		many = append(many, item(1042+i, "Alice", "Bob"))
	}
	return map[string]ranking.Notice{
		"two":               ranking.WhichPrompt{Tag: "Aa0_-zZ9", Matches: []ranking.WhichItem{item(42, "Alice", "Bob"), item(43, "Alice", "Carol")}},
		"many":              ranking.WhichPrompt{Matches: many},
		"hostile":           ranking.WhichPrompt{Matches: []ranking.WhichItem{item(42, hostile, hostile)}},
		"canceled":          ranking.UndoDropped{By: &ranking.Reporter{Name: &zoe}},
		"canceled_as_group": ranking.UndoDropped{By: &ranking.Reporter{}},
		"expired":           ranking.UndoDropped{},
	}
}

func goldenWizards() map[string]ranking.Notice {
	names := []ranking.Name{called("Bob"), {Name: "Bob", Mark: "@bobby"}, called("Carol"), called("Maximilian Mustermann")}
	return map[string]ranking.Notice{
		"opponent":            ranking.OpponentPrompt{Tag: "Aa0_-zZ9", Opponents: names, Total: 4},
		"opponent_page":       ranking.OpponentPrompt{Prompt: 9, Opponents: names[:3], First: 8, Total: 40},
		"opponent_or_doubles": ranking.OpponentPrompt{Tag: "Aa0_-zZ9", Opponents: names, Total: 4, Doubles: true},
		"picks_partner": ranking.OpponentPrompt{Prompt: 9, Tag: "Aa0_-zZ9", Opponents: names, Total: 12,
			Picks: &ranking.Picks{}, Sides: [2][]ranking.Name{{called("Alice")}}},
		"picks_first": ranking.OpponentPrompt{Prompt: 9, Tag: "Aa0_-zZ9", Opponents: names, First: 8, Total: 12,
			Picks: &ranking.Picks{9}, Sides: [2][]ranking.Name{{called("Alice"), names[0]}}},
		"picks_second": ranking.OpponentPrompt{Prompt: 9, Tag: "Aa0_-zZ9", Opponents: names, Total: 4,
			Picks: &ranking.Picks{1, 3}, Sides: [2][]ranking.Name{{called("Alice"), names[0]}, {names[2]}}},
		"picks_score": ranking.ScorePrompt{Prompt: 9, Tag: "Aa0_-zZ9", Scores: [][2]int{{3, 1}, {0, -1}, {-1, 0}},
			Picks: ranking.Picks{1, 3, 2}, Teams: [2][]ranking.Name{{called("Alice"), names[0]}, names[2:]}},
		"picks_hostile": ranking.OpponentPrompt{Prompt: 9, Opponents: []ranking.Name{called(hostile)}, Total: 4,
			Picks: &ranking.Picks{2, 3}, Sides: [2][]ranking.Name{{called(hostile), called(hostile)}, {called(hostile)}}},
		"together":         ranking.TogetherPrompt{Tag: "Aa0_-zZ9", Pair: [2]ranking.Name{called("Alice"), names[3]}},
		"together_hostile": ranking.TogetherPrompt{Prompt: 9, Pair: [2]ranking.Name{called(hostile), called(hostile)}},
		"name":             ranking.NamePrompt{Prompt: 9, Tag: "Aa0_-zZ9", Doubt: command.DoubtName, Word: "bob", Opponents: names[:2], First: 8, More: true},
		"name_guest":       ranking.NamePrompt{Prompt: 9, Doubt: command.DoubtUnknownName, Word: "Tom", Opponents: []ranking.Name{called("Tom")}, Guest: true},
		"name_hostile":     ranking.NamePrompt{Prompt: 9, Doubt: command.DoubtUnknownName, Word: hostile},
		"score":            ranking.ScorePrompt{Tag: "Aa0_-zZ9", Opponent: names[0], Scores: [][2]int{{3, 0}, {3, 1}, {3, 2}, {2, 3}, {1, 3}, {0, 3}, {7, 5}, {0, -1}, {-1, 0}, {-1, -1}, {-1, 1}}},
		"score_none":       ranking.ScorePrompt{Opponent: names[0], Scores: [][2]int{{3, 1}, {0, -1}, {-1, 0}, {-1, -1}}},
		"score_teams": ranking.ScorePrompt{
			Scores: [][2]int{{3, 1}, {0, -1}, {-1, 0}},
			Teams:  [2][]ranking.Name{{called("Alice")}, {called("Bob"), called("Maximilian Mustermann")}},
		},
		"score_hostile": ranking.ScorePrompt{Prompt: 9, At: 3, Opponent: called(hostile), Scores: [][2]int{{1, 0}, {0, 1}}},
	}
}
