package bot

import (
	"slices"
	"testing"
	"time"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/notice"
	"elobot/internal/ranking"
)

// comesOfAPress reports whether the tests of callback answers cover a notice.
func comesOfAPress(n notice.Notice) bool {
	switch n.(type) {
	case ranking.MatchUndone, ranking.MatchRestored, ranking.SettingChanged, ranking.Refusal, CommandFailed:
		return true
	default:
		return false
	}
}

// wrongForms maps each command that amends a match to the reasons for which the golden files show
// its answers.
var wrongForms = map[string][]command.Reason{
	command.NameUndo: {
		command.ReasonUnexpectedWord, command.ReasonNoSuchNumber, command.ReasonNegativeNumber, command.ReasonDecimalNumber,
		command.ReasonUnknownMention,
	},
	command.NameRestore: {
		command.ReasonUnexpectedWord, command.ReasonNoSuchNumber, command.ReasonNegativeNumber, command.ReasonDecimalNumber,
		command.ReasonUnknownMention,
	},
	command.NameFix: {
		command.ReasonNoScore, command.ReasonIncompleteScore, command.ReasonThirdNumber,
		command.ReasonSeveralScores, command.ReasonTooManySets, command.ReasonNegativeNumber, command.ReasonDecimalNumber,
		command.ReasonScoreTooLarge, command.ReasonNoSuchNumber, command.ReasonUnexpectedWord,
		command.ReasonUnknownMention, command.ReasonUnclearTotal,
	},
}

// TestWrongFormsAreThoseThatThereAre checks that wrongForms lists every reason for which the
// parsers reject these arguments.
func TestWrongFormsAreThoseThatThereAre(t *testing.T) {
	t.Parallel()
	for name, parse := range map[string]func(command.Command) error{
		command.NameUndo:    func(c command.Command) error { _, err := command.ParseNumber(c); return err },
		command.NameRestore: func(c command.Command) error { _, err := command.ParseNumber(c); return err },
		command.NameFix:     func(c command.Command) error { _, err := command.ParseFix(c); return err },
	} {
		for _, args := range []string{
			"", "x", "0", "1234567890", "-1", "2.5", "３", "@ab", "#0", "42", "42 3", "42 3:1:2", "42 3 1 2 1", "42 3:1 2 1",
			"42 1000:1", "42 3:-1", "42 2.5:1", "42 ３:1", "42 3:1 x", "1:1 1:1 1:1 1:1 1:1 1:1 1:1 1:1 1:1 1:1 1:1 1:1 1:1 " +
				"1:1 1:1 1:1 1:1 1:1 1:1 1:1 1:1 1:1 1:1 1:1 1:1 1:1",
		} {
			c := command.Command{Name: name, Args: args}
			form, ok := ranking.WrongFormOf(c, parse(c))
			if ok && !slices.Contains(wrongForms[name], form.Reason) {
				t.Errorf("/%s %s: %s is not among them", name, args, form.Reason)
			}
		}
	}
}

// members returns a side of players who all have the same rating change.
func members(score, change int, names ...string) ranking.Side {
	s := ranking.Side{Score: score}
	for i, n := range names {
		before := 1500 - 10*i
		s.Players = append(s.Players, ranking.RatingChange{Name: called(n), Before: before, After: before + change})
	}
	return s
}

func withStandIn(s ranking.Side) ranking.Side {
	s.StandIns = 1
	return s
}

var (
	pair     = []string{"Alice", "Bob"}
	ten      = []string{"Ann", "Ben", "Cem", "Dora", "Eve", "Finn", "Gil", "Hanna", "Ines", "Jan"}
	otherTen = []string{"Kim", "Lea", "Mia", "Noah", "Olga", "Paul", "Quentin", "Rosa", "Sam", "Tom"}
	three    = []ranking.SetScore{{11, 7}, {9, 11}, {11, 5}}
)

func aliceAndBob(a, b, change int) [2]ranking.Side {
	return [2]ranking.Side{members(a, change, "Alice"), members(b, -change, "Bob")}
}

func goldenTeamsAndSets() map[string]notice.Notice {
	tens := [2]ranking.Side{members(21, 16, ten...), members(19, -16, otherTen...)}
	var newcomers []ranking.Name
	for _, n := range append(slices.Clone(ten), otherTen...) {
		newcomers = append(newcomers, called(n))
	}
	// Some players have provisional K-factors.
	ownK := [2]ranking.Side{members(21, 16, ten...), members(19, -16, otherTen[:2]...)}
	ownK[0].Players[1].After += 16
	ownK[0].Players[7].After += 8
	ownK[1].Players[0].After -= 16
	return map[string]notice.Notice{
		"own_k":    ranking.MatchRecorded{Number: 7, Sides: ownK},
		"no_score": ranking.MatchRecorded{Number: 7, Sides: aliceAndBob(0, -1, 16)},
		"early":    ranking.MatchRecorded{Number: 7, Sides: aliceAndBob(0, -1, 16), Games: "7-6(5) 2-1"},
		"halves": ranking.MatchRecorded{
			Number: 7, Sides: aliceAndBob(ladder.Half+2, ladder.Half, 16),
			Sets: []ranking.SetScore{{1, 0}, {1, 0}, {ladder.Half, ladder.Half}},
		},
		"no_score_drew": ranking.MatchRecorded{Number: 7, Sides: aliceAndBob(-1, -1, 0)},
		"sets":          ranking.MatchRecorded{Number: 7, Sides: aliceAndBob(2, 1, 16), Sets: three},
		"sets_drew":     ranking.MatchRecorded{Number: 7, Sides: aliceAndBob(1, 1, 0), Sets: []ranking.SetScore{{11, 7}, {9, 11}}},
		"teams":         ranking.MatchRecorded{Number: 7, Sides: [2]ranking.Side{members(10, 16, pair...), members(8, -16, "Carol", "Dave")}},
		"teams_sets": ranking.MatchRecorded{
			Number: 7, Sides: [2]ranking.Side{members(2, 16, pair...), members(1, -16, "Carol", "Dave")}, Sets: three,
		},
		"teams_new": ranking.MatchRecorded{
			Number: 7, Sides: [2]ranking.Side{members(3, 16, ten[:4]...), members(1, -16, otherTen[:4]...)},
			NewPlayers: append(slices.Clone(newcomers[:4]), newcomers[10:14]...),
		},
		"stand_ins": ranking.MatchRecorded{Number: 7, Sides: [2]ranking.Side{
			withStandIn(members(10, 16, "Alice")), withStandIn(members(8, -16, otherTen[:5]...)),
		}},
		"teams_uneven": ranking.MatchRecorded{Number: 7, Sides: [2]ranking.Side{members(10, 16, "Alice"), members(8, -16, otherTen[:5]...)}},
		"tens":         ranking.MatchRecorded{Number: 7, Sides: tens},
		"tens_new":     ranking.MatchRecorded{Number: 7, Sides: tens, NewPlayers: newcomers},
	}
}

func goldenAmendedCards() map[string]notice.Notice {
	alice, hostileName := called("Alice"), called(hostile)
	teams := [2]ranking.Side{members(10, 16, pair...), members(8, -16, "Carol", "Dave")}
	return map[string]notice.Notice{
		"fixed": ranking.MatchRecorded{Number: 42, Sides: aliceAndBob(3, 2, 16), Was: &ranking.OldScore{Score: [2]int{3, 1}}},
		"fixed_other_winner": ranking.MatchRecorded{
			Number: 42, Sides: aliceAndBob(3, 1, 16), Was: &ranking.OldScore{Score: [2]int{1, 3}},
			ReportedBy: &ranking.Reporter{},
		},
		"fixed_other_team": ranking.MatchRecorded{
			Number: 42, Sides: [2]ranking.Side{members(3, 16, "Alice", "Bob"), members(1, -16, "Carol", "Dave")},
			Was: &ranking.OldScore{Score: [2]int{1, 3}},
		},
		"fixed_by_older_release": ranking.MatchRecorded{ // which did not put the winner first
			Number: 42, Sides: aliceAndBob(1, 3, -16), Was: &ranking.OldScore{Score: [2]int{3, 1}},
			ReportedBy: &ranking.Reporter{},
		},
		"fixed_sets": ranking.MatchRecorded{
			Number: 42, Sides: aliceAndBob(2, 1, 16), Sets: three,
			Was: &ranking.OldScore{Score: [2]int{2, 1}, Sets: []ranking.SetScore{{11, 7}, {9, 11}, {11, 6}}},
		},
		"undone":          ranking.MatchRecorded{Number: 42, Tag: "Aa0_-zZ9", Sides: aliceAndBob(3, 1, 16), Undone: true, UndoneBy: &ranking.Reporter{Name: &alice}, Changes: 1},
		"restored":        ranking.MatchRecorded{Number: 42, Tag: "Aa0_-zZ9", Sides: aliceAndBob(3, 1, 16), Changes: 2},
		"undone_by_admin": ranking.MatchRecorded{Number: 42, Sides: aliceAndBob(3, 1, 16), Undone: true, UndoneBy: &ranking.Reporter{}},
		"undone_same": ranking.MatchRecorded{
			Number: 4, Sides: [2]ranking.Side{members(3, 16, "Bobby"), members(1, -16, "bob")}, Undone: true,
		},
		"undone_same_team": ranking.MatchRecorded{Number: 4, Sides: teams, Undone: true},
		"undone_teams": ranking.MatchRecorded{
			Number: 42, Sides: teams, Sets: three, NewPlayers: []ranking.Name{alice}, ReportedBy: &ranking.Reporter{},
			Was: &ranking.OldScore{Score: [2]int{1, 3}}, Undone: true, UndoneBy: &ranking.Reporter{Name: &alice},
		},
		"undone_hostile": ranking.MatchRecorded{
			Number: 42, Sides: [2]ranking.Side{members(3, 16, hostile), members(1, -16, "محمد")},
			Undone: true, UndoneBy: &ranking.Reporter{Name: &hostileName},
		},
	}
}

// moved returns the rating changes of Alice and Bob when a win of Alice is undone. others is how
// many other ratings change.
func moved(others int) ranking.Moved {
	return ranking.Moved{Others: others, Ratings: []ranking.RatingChange{
		{Name: called("Alice"), Before: 1500, After: 1484}, {Name: called("Bob"), Before: 1490, After: 1506},
	}}
}

var unmoved = ranking.Moved{Ratings: []ranking.RatingChange{
	{Name: called("Alice"), Before: 1500, After: 1500}, {Name: called("Bob"), Before: 1490, After: 1490},
}}

func goldenUndone() map[string]notice.Notice {
	inSeason := moved(1)
	inSeason.Season = 2
	alice, hostileName := called("Alice"), called(hostile)
	byAlice := ranking.Reporter{Name: &alice}
	return map[string]notice.Notice{
		"no_score":   ranking.MatchUndone{Number: 42, Sides: aliceAndBob(0, -1, 16), By: byAlice, Moved: moved(0)},
		"win":        ranking.MatchUndone{Number: 42, Sides: aliceAndBob(3, 1, 16), By: byAlice, Moved: moved(0)},
		"in_season":  ranking.MatchUndone{Number: 42, Sides: aliceAndBob(3, 1, 16), By: byAlice, Moved: inSeason},
		"by_admin":   ranking.MatchUndone{Number: 42, Sides: aliceAndBob(3, 1, 16), Moved: moved(0)},
		"sets":       ranking.MatchUndone{Number: 42, Sides: aliceAndBob(2, 1, 16), Sets: three, By: byAlice, Moved: moved(0)},
		"one_other":  ranking.MatchUndone{Number: 42, Sides: aliceAndBob(3, 1, 16), By: byAlice, Moved: moved(1)},
		"others":     ranking.MatchUndone{Number: 42, Sides: aliceAndBob(3, 1, 16), By: byAlice, Moved: moved(3)},
		"none_moved": ranking.MatchUndone{Number: 42, Sides: aliceAndBob(2, 2, 0), By: byAlice, Moved: unmoved},
		"only_others": ranking.MatchUndone{
			Number: 42, Sides: aliceAndBob(2, 2, 0), By: byAlice, Moved: ranking.Moved{Ratings: unmoved.Ratings, Others: 2},
		},
		"teams": ranking.MatchUndone{
			Number: 42, Sides: [2]ranking.Side{members(10, 16, pair...), members(8, -16, "Carol", "Dave")},
			By: byAlice, Moved: moved(2),
		},
		"tens": ranking.MatchUndone{
			Number: 42, Sides: [2]ranking.Side{members(21, 16, ten...), members(19, -16, otherTen...)},
			By: byAlice, Moved: moved(18),
		},
		"hostile": ranking.MatchUndone{
			Number: 42, Sides: [2]ranking.Side{members(3, 16, hostile), members(1, -16, "محمد")},
			By:    ranking.Reporter{Name: &hostileName},
			Moved: ranking.Moved{Ratings: []ranking.RatingChange{{Name: hostileName, Before: 1516, After: 1500}}},
		},
	}
}

func goldenRestored() map[string]notice.Notice {
	alice, hostileName := called("Alice"), called(hostile)
	byAlice := ranking.Reporter{Name: &alice}
	back := ranking.Moved{Ratings: []ranking.RatingChange{
		{Name: called("Alice"), Before: 1484, After: 1500}, {Name: called("Bob"), Before: 1506, After: 1490},
	}}
	return map[string]notice.Notice{
		"win":        ranking.MatchRestored{Number: 42, Sides: aliceAndBob(3, 1, 16), By: byAlice, Moved: back},
		"by_admin":   ranking.MatchRestored{Number: 42, Sides: aliceAndBob(2, 1, 16), Sets: three, Moved: back},
		"none_moved": ranking.MatchRestored{Number: 42, Sides: aliceAndBob(2, 2, 0), By: byAlice, Moved: unmoved},
		"hostile": ranking.MatchRestored{
			Number: 42, Sides: [2]ranking.Side{members(3, 16, hostile), members(1, -16, "محمد")},
			By:    ranking.Reporter{Name: &hostileName},
			Moved: ranking.Moved{Ratings: []ranking.RatingChange{{Name: hostileName, Before: 1500, After: 1516}}},
		},
	}
}

func goldenFixed() map[string]notice.Notice {
	alice, hostileName := called("Alice"), called(hostile)
	byAlice := ranking.Reporter{Name: &alice}
	was := func(a, b int, sets ...ranking.SetScore) ranking.OldScore {
		return ranking.OldScore{Score: [2]int{a, b}, Sets: sets}
	}
	return map[string]notice.Notice{
		"score_added":       ranking.MatchFixed{Number: 42, Sides: aliceAndBob(3, 2, 16), Was: was(0, -1), By: byAlice, Moved: unmoved},
		"no_score":          ranking.MatchFixed{Number: 42, Sides: aliceAndBob(0, -1, 16), Was: was(-1, 0), By: byAlice, Moved: moved(0)},
		"no_score_any_more": ranking.MatchFixed{Number: 42, Sides: aliceAndBob(-1, -1, 0), Was: was(3, 1), By: byAlice, Moved: moved(0)},
		"score":             ranking.MatchFixed{Number: 42, Sides: aliceAndBob(3, 2, 16), Was: was(3, 1), By: byAlice, Moved: unmoved},
		"other_winner":      ranking.MatchFixed{Number: 42, Sides: aliceAndBob(3, 1, 16), Was: was(1, 3), By: byAlice, Moved: moved(3)},
		"by_older_release":  ranking.MatchFixed{Number: 42, Sides: aliceAndBob(1, 3, -16), Was: was(3, 1), By: byAlice, Moved: moved(3)},
		"to_a_draw":         ranking.MatchFixed{Number: 42, Sides: aliceAndBob(2, 2, 0), Was: was(3, 1), Moved: moved(0)},
		"to_sets":           ranking.MatchFixed{Number: 42, Sides: aliceAndBob(2, 1, 16), Sets: three, Was: was(3, 1), By: byAlice, Moved: unmoved},
		"players": ranking.MatchFixed{
			Number: 42, Sides: aliceAndBob(3, 1, 16), By: byAlice, Moved: moved(3),
			Before: &ranking.NamedResult{Sides: [2][]ranking.Name{{called("Alice")}, {called("Carol")}}, Score: [2]int{3, 1}},
		},
		"sets": ranking.MatchFixed{
			Number: 42, Sides: aliceAndBob(2, 1, 16), Sets: three,
			Was: was(2, 1, ranking.SetScore{11, 7}, ranking.SetScore{9, 11}, ranking.SetScore{11, 6}),
			By:  byAlice, Moved: unmoved,
		},
		"sets_added": ranking.MatchFixed{Number: 42, Sides: aliceAndBob(2, 1, 16), Sets: three, Was: was(2, 1), By: byAlice, Moved: unmoved},
		"sets_taken": ranking.MatchFixed{Number: 42, Sides: aliceAndBob(2, 1, 16), Was: was(2, 1, three...), By: byAlice, Moved: unmoved},
		"hostile": ranking.MatchFixed{
			Number: 42, Sides: [2]ranking.Side{members(3, 16, hostile), members(1, -16, "محمد")}, Was: was(1, 3),
			By:    ranking.Reporter{Name: &hostileName},
			Moved: ranking.Moved{Ratings: []ranking.RatingChange{{Name: hostileName, Before: 1484, After: 1516}}},
		},
	}
}

func goldenMerged() map[string]notice.Notice {
	bobby := ranking.Moved{Ratings: []ranking.RatingChange{{Name: called("Bobby"), Before: 1500, After: 1512}}}
	with := func(undone ...int) ranking.PlayersMerged {
		return ranking.PlayersMerged{Username: "bob", Name: called("Bobby"), Undone: undone, Moved: bobby}
	}
	others := with()
	others.Others = 3
	return map[string]notice.Notice{
		"players":     with(),
		"with_others": others,
		"one_undone":  with(4),
		"two_undone":  with(4, 9),
		"many_undone": with(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12),
		"none_moved": ranking.PlayersMerged{Username: "bob", Name: called("Bobby"), Moved: ranking.Moved{
			Ratings: []ranking.RatingChange{{Name: called("Bobby"), Before: 1500, After: 1500}},
		}},
		"mapped": ranking.PlayersMerged{Player: called("Dave"), Name: called("Bobby"), Undone: []int{4}},
		"split": ranking.PlayersMerged{
			Player: called("Dave"), Name: called("Bobby"), Split: true, Restored: []int{4},
		},
		"hostile_split": ranking.PlayersMerged{
			Player: called(hostile), Name: called("Bobby"), Split: true, Restored: []int{4, 7, 9, 11, 12},
		},
		"moved": ranking.PlayersMerged{Moved: bobby},
		"hostile": ranking.PlayersMerged{Username: "start_bot", Name: called(hostile), Undone: []int{4}, Moved: ranking.Moved{
			Ratings: []ranking.RatingChange{{Name: called(hostile), Before: 1500, After: 1512}},
		}},
	}
}

func goldenUndoPrompts() map[string]notice.Notice {
	zoe := called("Zoe")
	return map[string]notice.Notice{
		"prompt_as_group": ranking.UndoPrompt{Number: 42, Sides: [2]ranking.Side{members(3, 16, "Alice"), members(1, -16, "Bob")}},
		"prompt": ranking.UndoPrompt{
			Tag:    "Aa0_-zZ9",
			Number: 42, Sides: [2]ranking.Side{members(3, 16, "Alice"), members(1, -16, "Bob")},
			Asked: ranking.Reporter{Name: &zoe},
		},
		"prompt_of_old_match": ranking.UndoPrompt{
			Number: 42, Sides: [2]ranking.Side{members(3, 16, "Alice"), members(1, -16, "Bob")},
			Asked:  ranking.Reporter{Name: &zoe},
			Played: time.Date(2026, time.March, 31, 12, 0, 0, 0, time.UTC),
		},
		"prompt_before_undone": ranking.UndoPrompt{
			Number: 42, Sides: [2]ranking.Side{members(3, 16, "Alice"), members(1, -16, "Bob")},
			Asked: ranking.Reporter{Name: &zoe}, Undone: 45,
		},
		"prompt_hostile": ranking.UndoPrompt{
			Number: 42, Sides: [2]ranking.Side{members(2, 16, "Alice", "Carol"), members(1, -16, "Bob", hostile)},
			Sets: []ranking.SetScore{{11, 7}, {9, 11}, {11, 5}}, Asked: ranking.Reporter{Name: &ranking.Name{Name: hostile}},
		},
		"fix":               ranking.FixPrompt{Number: 42, Tag: "Aa0_-zZ9", Sides: aliceAndBob(3, 1, 16)},
		"canceled":          ranking.UndoDropped{Number: 42, By: &ranking.Reporter{Name: &zoe}},
		"canceled_as_group": ranking.UndoDropped{Number: 42, By: &ranking.Reporter{}},
		"expired":           ranking.UndoDropped{Number: 42},
	}
}
