package bot

import (
	"slices"

	"elobot/internal/notice"
	"elobot/internal/ranking"
)

func goldenNotRecorded() map[string]notice.Notice {
	match := func(score [2]int, a, b []ranking.Name) ranking.RejectedResult {
		return ranking.RejectedResult{Command: "match",
			NamedResult: ranking.NamedResult{Sides: [2][]ranking.Name{a, b}, Score: score}}
	}
	alice, bob := []ranking.Name{called("Alice")}, []ranking.Name{called("@bob")}
	tens := slices.Repeat(alice, 10)
	sets := match([2]int{2, 1}, alice, bob)
	sets.Sets = []ranking.SetScore{{11, 7}, {9, 11}, {11, 5}}
	all := []ranking.RejectedResult{
		match([2]int{3, 1}, alice, bob), sets, match([2]int{10, 8}, tens, slices.Concat(bob, alice)),
		{Command: "match", Malformed: true},
		{Command: "undo", Number: 42}, {Command: "undo", Last: true}, {Command: "undo"}, {Command: "undo", Malformed: true},
		{Command: "restore", Last: true},
		{Command: "fix", Number: 42, NamedResult: ranking.NamedResult{Score: [2]int{3, 2}}}, {Command: "fix", Last: true, NamedResult: ranking.NamedResult{Score: [2]int{3, 2}}},
		{Command: "fix", Number: 42, NamedResult: ranking.NamedResult{Score: [2]int{2, 1}, Sets: sets.Sets}}, {Command: "fix", NamedResult: ranking.NamedResult{Score: [2]int{3, 2}}},
	}
	return map[string]notice.Notice{
		"one":      ranking.NotRecorded{Limit: 60, Items: all[:1]},
		"of_one":   ranking.NotRecorded{Limit: 1, Items: all[:2]},
		"each":     ranking.NotRecorded{Limit: 60, Items: all},
		"and_more": ranking.NotRecorded{Limit: 60, Items: slices.Repeat(all[:1], ranking.MaxRejected), More: 70},
		"hostile": ranking.NotRecorded{Limit: 60, Items: []ranking.RejectedResult{
			match([2]int{3, 1}, []ranking.Name{called(hostile)}, []ranking.Name{called("محمد")}),
		}},
	}
}

func goldenFixOffers() map[string]notice.Notice {
	won := ranking.OldScore{Score: [2]int{3, 1}}
	inSets := []ranking.SetScore{{11, 7}, {9, 11}, {11, 5}}
	return map[string]notice.Notice{
		"no_score": ranking.FixOffer{Number: 42, Tag: "Aa0_-zZ9", Score: [2]int{-1, 0}, Was: ranking.OldScore{Score: [2]int{0, -1}}},
		"score":    ranking.FixOffer{Number: 42, Tag: "Aa0_-zZ9", Score: [2]int{3, 2}, Was: won},
		"to_sets":  ranking.FixOffer{Number: 42, Tag: "Aa0_-zZ9", Score: [2]int{2, 1}, Sets: inSets, Was: won},
		"of_sets":  ranking.FixOffer{Number: 42, Tag: "Aa0_-zZ9", Score: [2]int{3, 1}, Was: ranking.OldScore{Score: [2]int{2, 1}, Sets: inSets}},
		"winner":   ranking.WinnerOffer{Number: 42, Tag: "Aa0_-zZ9", Sides: aliceAndBob(3, 1, 16)},
		"too_long": ranking.FixOffer{Number: 42, Tag: "Aa0_-zZ9", Score: [2]int{0, 0}, Sets: slices.Repeat(inSets[1:2], 13), Was: won},
	}
}
