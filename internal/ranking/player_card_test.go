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

// TestPlayerCard checks that /player shows an admin the player whom the command names, mentions or
// replies to. Senders who are not admins are refused. The command adds no player.
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

// TestChoosePlayer checks that the choices begin with players with a similar name, followed by the
// players who have played the least. For an account, one page offers only accounts, and another
// page offers all other players.
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

// TestMappingPrompt checks that before a merge or a split, the bot says which matches move, which
// cease to count or count again. A button made for other matches changes nothing and asks again.
// The outcome replaces the question.
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
	var shown int // in the last prompt
	mustAsk := func(op ranking.Operation, want ranking.MappingPrompt) {
		t.Helper()
		asked, _ := do(admin, op).(ranking.MappingPrompt)
		shown, asked.Shown = asked.Shown, 0
		checkNotice(t, asked, want)
	}
	merge := ranking.MergePlayers{From: id("dave"), Into: id("Bob")}
	merge.Ask = ranking.AskMerge
	daves, bobs := ranking.Name{Name: "dave"}, ranking.Name{Name: "Bob"}
	checkNotice(t, do(nobodyIsAdmin, merge), ranking.Refusal{Code: ranking.AdminsOnly})
	mustAsk(merge, ranking.MappingPrompt{
		Ask: ranking.AskMerge, From: daves, Into: bobs, Moves: 2, Last: []int{3, 1}, Undone: []int{2},
	})
	// Of Dave's matches, one ceases to count, and another one takes its place.
	must(t, g.Do(t.Context(), g.origin(&alice), ranking.UndoMatch{Amendment: ofMatch(1)}))
	g.record(t, &alice, alice, dave, 3, 1)
	merge.MappingStep = ranking.MappingStep{Shown: new(shown)}
	mustAsk(merge, ranking.MappingPrompt{
		Ask: ranking.AskMerge, Again: true, From: daves, Into: bobs, Moves: 2, Last: []int{5, 3}, Undone: []int{2},
	})
	merge.Shown = new(shown)
	checkNotice(t, do(admin, merge), ranking.PlayersMerged{Player: daves, Name: bobs, Undone: []int{2}})
	split := ranking.SplitPlayer{Player: id("dave"), MappingStep: ranking.MappingStep{Ask: ranking.AskSplit}}
	asked := ranking.MappingPrompt{
		Ask: ranking.AskSplit, From: daves, Into: bobs, Moves: 2, Last: []int{5, 3}, Restored: []int{2},
	}
	mustAsk(split, asked)
	split.MappingStep, asked.Again = ranking.MappingStep{Shown: new(shown + 1)}, true
	mustAsk(split, asked)
	split.Shown = new(shown)
	must(t, g.Do(dbtest.WithAdmin(t.Context(), admin), g.press(&alice), split))
	equal(t, "the message with the pressed button",
		[]ranking.PlayersMerged{{Player: daves, Name: bobs, Split: true, Restored: []int{2}}},
		notices[ranking.PlayersMerged](t, g, `action = 'page' AND edited_message_id = 77`))
}

// TestMergeOfNewAccount checks that once an unclaimed player has become an account, an old button
// merges it neither into a guest, nor into an account without the questions about two accounts.
func TestMergeOfNewAccount(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	grandma := g.addGuestTo(t)
	g.record(t, &alice, alice, command.Person{Username: carol.Username}, 3, 1)
	merge := ranking.MergePlayers{From: g.player(t, carol.Username), Into: g.player(t, "Alice")}
	merge.Ask = ranking.AskMerge
	asked := g.asAdmin(t, &zoe, merge).(ranking.MappingPrompt)
	must(t, g.Do(t.Context(), g.origin(&carol), ranking.Join{}))
	equal(t, "the question", ranking.AskAccounts, g.asAdmin(t, &zoe, merge).(ranking.MappingPrompt).Ask)
	merge.MappingStep = ranking.MappingStep{Shown: &asked.Shown}
	again := g.asAdmin(t, &zoe, merge).(ranking.MappingPrompt)
	if again.Ask != ranking.AskAccounts || !again.Again {
		t.Errorf("the old button is answered with %+v", again)
	}
	merge.Into = grandma.Player
	checkNotice(t, g.asAdmin(t, &zoe, merge), ranking.Refusal{Code: ranking.UnknownButton})
	g.has(t, 0, "sightings WHERE counts_as IS NOT NULL")
}

// TestSplitPromptNamesWhoStays checks that before a split, the bot says who else still counts as
// the player.
func TestSplitPromptNamesWhoStays(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	grandma, into := g.addGuestTo(t), g.player(t, "Alice")
	g.record(t, &bob, bob, command.Person{Username: "dave"}, 3, 1)
	for _, from := range []ladder.PlayerID{g.player(t, "dave"), grandma.Player} {
		g.asAdmin(t, &zoe, ranking.MergePlayers{From: from, Into: into})
	}
	split := ranking.SplitPlayer{Player: grandma.Player, MappingStep: ranking.MappingStep{Ask: ranking.AskSplit}}
	asked := g.asAdmin(t, &zoe, split).(ranking.MappingPrompt)
	equal(t, "those who stay", []ranking.Name{{Name: "dave"}}, asked.Stay)
}
