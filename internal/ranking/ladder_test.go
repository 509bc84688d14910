package ranking_test

import (
	"strings"
	"testing"

	"elobot/internal/ranking"
)

// changeLadder has an admin change a ladder of the club, or list the ladders, and returns the
// answer.
func (g *game) changeLadder(t *testing.T, change ranking.LadderChange, name, first string) ranking.Notice {
	t.Helper()
	o := g.origin(&alice)
	must(t, g.Do(asAdmin(t), o, ranking.ChangeLadder{Change: change, Name: name, First: first}))
	return g.notice(t, o.Key)
}

// TestMoveToALadderWithoutThePlayers checks that the answer about a moved match lists the ratings
// of the match's players in both ladders, in the order of the card, even if the players are new to
// the target ladder.
func TestMoveToALadderWithoutThePlayers(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 1, 3)
	g.changeLadder(t, ranking.AddLadder, "padel", "chess")
	o := g.origin(&alice)
	must(t, g.Do(t.Context(), o,
		ranking.MoveMatch{Amendment: ranking.Amendment{Match: ranking.MatchRef{Number: 1}}, Name: "padel"}))
	moved, ok := g.notice(t, o.Key).(ranking.MatchMoved)
	if !ok {
		t.Fatalf("%+v", g.notice(t, o.Key))
	}
	change := func(name string, before, after int) ranking.RatingChange {
		return ranking.RatingChange{Name: ranking.Name{Name: name}, Before: before, After: after}
	}
	checkNotice(t, moved, ranking.MatchMoved{
		Number: 1, Sides: moved.Sides, By: moved.By, From: "chess", To: "padel",
		Moved: ranking.Moved{Ratings: []ranking.RatingChange{change("Bob", 1516, 1500), change("Alice", 1484, 1500)}},
		Into:  ranking.Moved{Ratings: []ranking.RatingChange{change("Bob", 1500, 1516), change("Alice", 1500, 1484)}},
	})
}

// TestLaddersOfANewGroup checks that the first command of a new group may be about its ladders.
func TestLaddersOfANewGroup(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, first string
		change      ranking.LadderChange
		want        ranking.Notice
	}{
		{"", "", ranking.ListLadders, ranking.LadderList{Ladders: []ranking.ListedLadder{{Default: true, Here: true}}}},
		{"padel", "", ranking.AddLadder, ranking.FirstLadderPrompt{Name: "padel"}},
		{"padel", "chess", ranking.AddLadder, ranking.LadderChanged{Change: ranking.AddLadder, Name: "padel", First: "chess", Topic: true}},
		{"chess", "", ranking.RenameLadder, ranking.LadderChanged{Change: ranking.RenameLadder, Name: "chess", Topic: true}},
		{"chess", "", ranking.UseLadder, ranking.Refusal{Code: ranking.NoSuchLadder, Name: "chess"}},
	} {
		t.Run(string(tc.change)+tc.first, func(t *testing.T) {
			t.Parallel()
			g := newGame(t)
			checkNotice(t, g.changeLadder(t, tc.change, tc.name, tc.first), tc.want)
		})
	}
}

// TestRenameLadder checks that if the first words name a ladder, that ladder is renamed to the
// rest. Otherwise the words are a new name for the only ladder; a name of several words needs a
// confirmation. In a group with several ladders, a command that does not name both a ladder and its
// new name is refused.
func TestRenameLadder(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	renamed := func(name, was string) ranking.LadderChanged {
		return ranking.LadderChanged{Change: ranking.RenameLadder, Name: name, Was: was, Topic: true}
	}
	checkNotice(t, g.changeLadder(t, ranking.RenameLadder, "padel Paddle", ""), ranking.RenamePrompt{Name: "padel Paddle"})
	long := strings.Repeat("鞠", 20) + " x" // too long for the data of the prompt's button
	checkNotice(t, g.changeLadder(t, ranking.RenameLadder, long, ""),
		ranking.Refusal{Code: ranking.LadderName, Name: long})
	checkNotice(t, g.changeLadder(t, ranking.RenameLadder, "padel", ""), renamed("padel", ""))
	checkNotice(t, g.changeLadder(t, ranking.RenameLadder, "Padel Paddle", ""), renamed("Paddle", "padel"))
	checkNotice(t, g.changeLadder(t, ranking.RenameLadder, "padle tennis", ""), ranking.RenamePrompt{Name: "padle tennis"})
	o := g.press(&alice)
	must(t, g.Do(asAdmin(t), o, ranking.ChangeLadder{Change: ranking.RenameLadder, Name: "padle tennis", Sure: true}))
	checkNotice(t, g.answer(t, o.Key, page), renamed("padle tennis", "Paddle"))
	g.changeLadder(t, ranking.AddLadder, "chess", "")
	for _, unclear := range []string{"tennis", "padle", "padle squash", "chess"} {
		checkNotice(t, g.changeLadder(t, ranking.RenameLadder, unclear, ""),
			ranking.Refusal{Code: ranking.RenameWhich, Name: "padle tennis, chess"})
	}
	checkNotice(t, g.changeLadder(t, ranking.RenameLadder, "padle tennis tennis", ""), renamed("tennis", "padle tennis"))
}
