package ranking_test

import (
	"strings"
	"testing"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// TestPlayerCard: /player shows admins a player, whom the command names, mentions or replies to. It
// refuses all others, and adds nobody.
func TestPlayerCard(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	players := g.count(t, "players")
	show := func(isAdmin dbtest.IsAdmin, args string, mentions ...command.Person) ranking.Notice {
		t.Helper()
		o := saying(g.origin(&alice), "player", args, mentions...)
		form := stats.PlayerCommand{Otherwise: ranking.Refusal{Code: ranking.NobodyToShow}}
		ask := ranking.Ask{Question: stats.Typed{Form: form}, OfAdmins: true}
		must(t, g.Do(dbtest.WithAdmin(t.Context(), isAdmin), o, ask))
		return g.notice(t, o.Key)
	}
	bobs := stats.PlayerCard{
		Name: ranking.Name{Name: "Bob"}, Username: "bob", Account: true,
		Names: []stats.NamedPlayer{{Name: ranking.Name{Name: "Bob"}, Matches: 1}},
	}
	checkNotice(t, show(admin, "@", bob), bobs)
	checkNotice(t, show(admin, "bob"), bobs)
	checkNotice(t, show(admin, ""), ranking.Refusal{Code: ranking.NobodyToShow})
	checkNotice(t, show(admin, "@", command.Person{Username: "erin"}),
		ranking.Refusal{Code: ranking.NoSuchPlayer, Name: "@erin"})
	checkNotice(t, show(admin, "@ @ @", alice, bob, carol),
		stats.UnclearPeople{Reason: stats.TooManyNamed, Command: "player"})
	checkNotice(t, show(admin, "@ @", bob, bob), bobs)
	checkNotice(t, show(admin, "@ @", alice, bob), stats.PlayerPage{View: stats.ViewAccounts,
		Name: ranking.Name{Name: "Alice"}, Account: true, Choices: []ranking.Name{{Name: "Bob"}}})
	for _, args := range []string{"bob", "nobody at all"} {
		checkNotice(t, show(nobodyIsAdmin, args), ranking.Refusal{Code: ranking.AdminsOnly})
	}
	g.has(t, players, "players")
}

// TestChoosePlayer: the first choices are the players with a similar name, and then those who have
// played the least. An account is merged with accounts on one page, and with others on another.
func TestChoosePlayer(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	for range 2 {
		g.record(t, &alice, alice, bob, 3, 1)
	}
	g.record(t, &alice, carol, command.Person{Username: "bobb"}, 3, 1)
	g.record(t, &alice, carol, command.Person{Username: "dora"}, 3, 1)
	choices := func(player string, q stats.PlayerCardQuestion) string {
		t.Helper()
		q.Player = rows1[ladder.PlayerID](t, g, `SELECT id FROM players WHERE display_name = $1`, player)[0]
		o := g.origin(&alice)
		must(t, g.Do(asAdmin(t), o, ranking.Ask{Question: q, OfAdmins: true}))
		var names []string
		n := g.notice(t, o.Key)
		for _, name := range n.(stats.PlayerPage).Choices {
			names = append(names, name.Name)
		}
		return strings.Join(names, " ")
	}
	for _, tc := range []struct {
		player string
		view   stats.PlayerView
		want   string
	}{
		{"Bob", stats.ViewMerge, "bobb dora"}, {"Bob", stats.ViewAccounts, "Alice Carol"},
		{"bobb", stats.ViewMerge, "Bob dora Alice Carol"}, {"Bob", stats.ViewSplit, ""},
	} {
		if got := choices(tc.player, stats.PlayerCardQuestion{View: tc.view}); got != tc.want {
			t.Errorf("the choices for %s (%s) are %s, want %s", tc.player, tc.view, got, tc.want)
		}
	}
}

// TestMappingPrompt: before a merge or a split, the bot says which matches move, which cease to
// count or count again, and which seasons that are over may change. A button made for other
// matches is refused.
func TestMappingPrompt(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	dave := command.Person{Username: "dave"}
	g.record(t, &alice, alice, dave, 3, 1) // 1
	g.record(t, &alice, bob, dave, 3, 1)   // 2
	g.record(t, &alice, carol, dave, 3, 1) // 3
	g.record(t, &alice, alice, carol, 3, 1)
	id := func(name string) ladder.PlayerID {
		return rows1[ladder.PlayerID](t, g, `SELECT id FROM players WHERE display_name = $1`, name)[0]
	}
	do := func(isAdmin dbtest.IsAdmin, op ranking.Operation) ranking.Notice {
		t.Helper()
		o := g.origin(&alice)
		must(t, g.Do(dbtest.WithAdmin(t.Context(), isAdmin), o, op))
		return g.notice(t, o.Key)
	}
	merge := ranking.MergePlayers{From: id("dave"), Into: id("Bob")}
	merge.Ask = ranking.AskMerge
	daves, bobs := ranking.Name{Name: "dave"}, ranking.Name{Name: "Bob"}
	checkNotice(t, do(nobodyIsAdmin, merge), ranking.Refusal{Code: ranking.AdminsOnly})
	checkNotice(t, do(admin, merge), ranking.MappingPrompt{
		Ask: ranking.AskMerge, From: daves, Into: bobs, Moves: 2, Last: []int{3, 1}, Undone: []int{2},
	})
	merge.MappingStep = ranking.MappingStep{Shown: new(2)}
	checkNotice(t, do(admin, merge), ranking.Refusal{Code: ranking.UnknownButton})
	merge.MappingStep = ranking.MappingStep{Shown: new(3)}
	checkNotice(t, do(admin, merge), ranking.PlayersMapped{Player: daves, Into: bobs, Undone: []int{2}})
	split := ranking.SplitPlayer{Player: id("dave"), MappingStep: ranking.MappingStep{Ask: ranking.AskSplit}}
	checkNotice(t, do(admin, split), ranking.MappingPrompt{
		Ask: ranking.AskSplit, From: daves, Into: bobs, Moves: 2, Last: []int{3, 1}, Restored: []int{2},
	})
}
