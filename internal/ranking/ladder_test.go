package ranking_test

import (
	"context"
	"testing"

	"elobot/internal/ranking"
)

// changeLadder changes the ladders of the club as an admin, and returns the answer.
func (g *game) changeLadder(t *testing.T, change ranking.LadderChange, name, first string) ranking.Notice {
	t.Helper()
	o := g.origin(&alice)
	isAdmin := func(context.Context) (bool, error) { return true, nil }
	must(t, g.Do(t.Context(), o, ranking.ChangeLadder{Change: change, Name: name, First: first, IsAdmin: isAdmin}))
	return g.notice(t, o.Key)
}

// TestLaddersOfANewGroup: the first command in a group may be one about its ladders.
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
