package bot

import (
	"slices"
	"time"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/notice"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

func goldenHeadToHeads() map[string]notice.Notice {
	alice, bob := called("Alice"), called("Bob")
	met := stats.HeadToHead{
		A: alice, B: bob, Won: 7, Drawn: 1, Lost: 4, For: 31, Against: 24, Gained: 38,
		Ratings: [2]int{1600, 1500}, Expected: 6401,
		Last: []stats.PlayedMatch{
			against(57, 21, 3, 1, 12), against(54, 20, 3, 0, 9), against(41, 3, 1, 3, -16),
			against(33, 1, 2, 2, 0), against(30, 1, 3, 2, 15),
		},
	}
	with := func(change func(*stats.HeadToHead)) stats.HeadToHead {
		n := met
		change(&n)
		return n
	}
	never := stats.HeadToHead{A: alice, B: bob, Ratings: [2]int{1500, 1500}, Expected: 5000}
	stranger := ranking.Name{Player: 9, Name: "Bob"}
	return map[string]notice.Notice{
		"met":      met,
		"once":     with(func(n *stats.HeadToHead) { n.Won, n.Drawn, n.Lost, n.Last = 0, 0, 1, n.Last[2:3] }),
		"no_draws": with(func(n *stats.HeadToHead) { n.NoDraws, n.Drawn = true, 0 }),
		"no_score": with(func(n *stats.HeadToHead) {
			n.For, n.Against = 0, 0
			n.Last = []stats.PlayedMatch{against(57, 21, 0, -1, 12), against(54, 20, -1, -1, 0), against(41, 3, -1, 0, -16)}
		}),
		"opened":  with(func(n *stats.HeadToHead) { n.Back = 2 }),
		"hostile": with(func(n *stats.HeadToHead) { n.A, n.B = called(hostile), ranking.Name{Name: "Bob", Mark: "2"} }),
		"certain": with(func(n *stats.HeadToHead) { n.Ratings, n.Expected = [2]int{3000, 100}, 10_000 }),
		"in_teams": with(func(n *stats.HeadToHead) {
			n.InTeams, n.Last = [3]int{2, 0, 1}, slices.Clone(n.Last)
			n.Last[1].Teams = true
		}),
		"never":    never,
		"stranger": stats.HeadToHead{A: alice, B: stranger, Stranger: stranger, Back: 9},
	}
}

func goldenRecords() map[string]notice.Notice {
	in := func(number, day int) *stats.MatchRef { return &stats.MatchRef{Number: number, At: onDay(day)} }
	all := stats.Records{
		Title:  "Table tennis",
		Streak: &stats.Record{Name: called("Alice"), Value: 9, In: in(57, 21)},
		Rating: &stats.Record{Name: called("Bob"), Value: 1702, In: in(41, 3)},
		Upset: &stats.UpsetBy{Name: called("Carol"),
			Upset: stats.Upset{MatchRef: *in(33, 1), By: 212, Beaten: []ranking.Name{called("Dave")}}},
		Played: &stats.Record{Name: called("Erik"), Value: 1312},
		Rivalry: &stats.RivalryOf{Name: called("Alice"),
			Pairing: stats.Pairing{With: called("Bob"), Played: 40, Won: 19, Drawn: 2, Lost: 19}},
	}
	with := func(change func(*stats.Records)) stats.Records {
		n := all
		change(&n)
		return n
	}
	month := time.Date(2026, time.November, 1, 0, 0, 0, 0, time.UTC)
	return map[string]notice.Notice{
		"all_time":    all,
		"of_month":    with(func(n *stats.Records) { n.Month = month }),
		"first_match": stats.Records{Rating: &stats.Record{Name: called("Alice"), Value: 1516, In: in(1, 1)}, Played: &stats.Record{Name: called("Alice"), Value: 1}},
		"teams": with(func(n *stats.Records) {
			upset := *n.Upset
			n.Upset, upset.Beaten = &upset, []ranking.Name{called("Dave"), called("Fay"), called("Gus")}
		}),
		"hostile":       with(func(n *stats.Records) { n.Title, n.Played = hostile, &stats.Record{Name: called(hostile), Value: 3} }),
		"none":          stats.Records{Title: "Table tennis"},
		"none_of_month": stats.Records{Title: "Table tennis", Month: month},
	}
}

func goldenCharts() map[string]notice.Notice {
	numbered := func(id ladder.PlayerID, name, mark string) ranking.Name {
		return ranking.Name{Player: id, Name: name, Mark: mark}
	}
	return map[string]notice.Notice{
		"month": stats.Chart{Title: "Table tennis", Period: stats.Month, Players: []ranking.Name{numbered(41, "Alice", ""), numbered(1312, "Bob", "bob_2")}},
		"numbers": stats.Chart{Title: "Table tennis", Period: stats.ThreeMonths, ByMatch: true, Players: []ranking.Name{
			numbered(1, "Анна", ""), numbered(2, "محمد", ""), numbered(3, "太郎", "2"), numbered(4, "Bob 🎾", "")}},
		"year":    stats.Chart{Period: stats.Year, Players: []ranking.Name{numbered(1, "Alice", "")}},
		"all":     stats.Chart{Period: stats.AllTime, Players: []ranking.Name{numbered(1, "Alice", "")}},
		"hostile": stats.Chart{Title: hostile, Period: stats.Month, Players: []ranking.Name{numbered(1, hostile, "")}},
	}
}

func goldenUnclearPeople() map[string]notice.Notice {
	near := []ranking.Name{{Player: 1, Name: "Robert Smith"}, {Player: 2, Name: "Robertson"}}
	same := []ranking.Name{{Player: 1, Name: "Bob", Mark: "bob"}, {Player: 2, Name: "Bob", Mark: "2"}}
	return map[string]notice.Notice{
		"unknown_name": stats.UnclearPeople{Reason: stats.UnknownName, Command: "stats", Word: "golf"},
		"similar_name": stats.WhoMeant{Doubt: command.DoubtUnknownName, Word: "robert", People: near},
		"several":      stats.WhoMeant{Doubt: command.DoubtName, Word: "bob", People: same, Picked: []ladder.PlayerID{3}},
		"nobody":       stats.UnclearPeople{Reason: stats.NobodyNamed, Command: "h2h"},
		"name_both":    stats.UnclearPeople{Reason: stats.NameBoth, Command: "h2h"},
		"too_many":     stats.UnclearPeople{Reason: stats.TooManyNamed, Command: "h2h"},
		"same_person":  stats.UnclearPeople{Reason: stats.SamePersonTwo, Command: "h2h"},
		"hostile":      stats.UnclearPeople{Reason: stats.UnknownName, Command: "stats", Word: hostile},
		"tomorrow":     stats.UnclearPeople{Reason: "of tomorrow", Command: "tomorrow"},
	}
}

func goldenPlayerCards() map[string]notice.Notice {
	card := func(name ranking.Name, matches int, change func(*stats.PlayerCard)) stats.PlayerCard {
		c := stats.PlayerCard{Name: name, Names: []stats.NamedPlayer{{Name: name, Matches: matches}}}
		change(&c)
		return c
	}
	return map[string]notice.Notice{
		"account": card(called("David"), 63, func(c *stats.PlayerCard) {
			c.Own, c.Username, c.Account = "David Kim", "david", true
			c.Names = append(c.Names, stats.NamedPlayer{Name: called("Dave"), Matches: 1},
				stats.NamedPlayer{Name: called("Davy")})
			c.Merged = []string{"dave_old", "Dave"}
		}),
		"without_username": card(called("David"), 1, func(c *stats.PlayerCard) { c.Account, c.Out = true, true }),
		"ignored":          card(called("David"), 1, func(c *stats.PlayerCard) { c.Account, c.Ignored = true, true }),
		"unclaimed":        card(called("dave"), 2, func(c *stats.PlayerCard) { c.Username = "dave" }),
		"guest":            card(called("Grandma"), 0, func(c *stats.PlayerCard) { c.Out = true }),
		"hostile": card(called(hostile), 5, func(c *stats.PlayerCard) {
			c.Own, c.Username, c.Merged = hostile, "david", []string{hostile}
			c.Names = append(c.Names, stats.NamedPlayer{Name: called(hostile), Matches: 5})
		}),
		"merge": stats.PlayerPage{View: stats.ViewMerge, Name: called("Grandma"),
			Choices: []ranking.Name{{Player: 8, Name: "Greta"}, {Player: 9, Name: "Bob", Mark: "2"}}},
		"accounts": stats.PlayerPage{View: stats.ViewAccounts, Name: called("David"), Account: true,
			Choices: []ranking.Name{{Player: 9, Name: "Dave"}}},
		"nick": stats.PlayerPage{View: stats.ViewNick, Name: called("David"), Account: true},
		"split": stats.PlayerPage{View: stats.ViewSplit, Name: called("David"), Account: true,
			Choices: []ranking.Name{{Player: 9, Name: "Grandma"}}},
	}
}

func goldenUndoneDays() map[string]notice.Notice {
	prompt := func(name ranking.Name, change func(*ranking.UndoDayPrompt)) ranking.UndoDayPrompt {
		n := ranking.UndoDayPrompt{
			Name: name, Count: 1, Last: []int{41}, Players: []ranking.Name{called("Alice"), called("Bob")},
		}
		change(&n)
		return n
	}
	return map[string]notice.Notice{
		"prompt": prompt(called("David"), func(*ranking.UndoDayPrompt) {}),
		"again": prompt(called("David"), func(n *ranking.UndoDayPrompt) {
			n.Again, n.Count, n.Last, n.Players = true, 12, []int{41, 40, 39, 38, 37, 36, 35, 34, 33, 32}, nil
		}),
		"hostile":        prompt(called(hostile), func(n *ranking.UndoDayPrompt) { n.Players = []ranking.Name{called(hostile)} }),
		"one":            ranking.DayUndone{Name: called("David"), Count: 1, Last: []int{41}},
		"several":        ranking.DayUndone{Name: called("David"), Count: 3, Last: []int{41, 40, 12}},
		"hostile_undone": ranking.DayUndone{Name: called(hostile), Count: 1, Last: []int{41}},
	}
}

func goldenMappingPrompts() map[string]notice.Notice {
	dave, david := ranking.Name{Player: 7, Name: "Dave"}, ranking.Name{Player: 8, Name: "David"}
	all := ranking.MappingPrompt{Ask: ranking.AskMerge, From: dave, Into: david,
		Moves: 40, Last: []int{90, 88, 80, 79, 78, 77, 76, 75, 74, 71}, Undone: []int{87},
		Over: []ranking.OldSeason{{Number: 1}, {Number: 2, Ladder: "Padel"}}}
	account := ranking.MappingPrompt{
		Ask: ranking.AskAccounts, From: dave, Into: david, Moves: 1, Last: []int{88}, Undone: []int{86, 87},
		Shown: 1702845791,
	}
	sure := account
	sure.Ask = ranking.AskSure
	return map[string]notice.Notice{
		"merge": all, "accounts": account, "sure": sure,
		"split":   ranking.MappingPrompt{Ask: ranking.AskSplit, From: dave, Into: david, Moves: 3, Last: []int{3, 2, 1}, Restored: []int{87}},
		"stay":    ranking.MappingPrompt{Ask: ranking.AskSplit, From: dave, Into: david, Stay: []ranking.Name{called("Grandma"), called("Dvae")}},
		"several": ranking.MappingPrompt{Ask: ranking.AskSplit, From: dave, Into: david, Restored: []int{87, 88}},
		"again":   ranking.MappingPrompt{Ask: ranking.AskMerge, Again: true, From: dave, Into: david, Moves: 1, Last: []int{3}},
		"hostile": ranking.MappingPrompt{Ask: ranking.AskMerge, From: called(hostile), Into: called(hostile),
			Over: []ranking.OldSeason{{Number: 1, Ladder: hostile}}, Stay: []ranking.Name{called(hostile)}},
	}
}
