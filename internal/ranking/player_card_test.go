package ranking_test

import (
	"testing"

	"elobot/internal/command"
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
		must(t, g.Do(dbtest.WithAdmin(t.Context(), isAdmin), o, ranking.Ask{
			Question: stats.Typed{Form: stats.PlayerCommand{Otherwise: ranking.Refusal{Code: ranking.NobodyToShow}}}, OfAdmins: true,
		}))
		return g.notice(t, o.Key)
	}
	bobs := stats.PlayerCard{
		Name: ranking.Name{Name: "Bob"}, Username: "bob", Account: true,
		Names: []stats.NamedPlayer{{Name: ranking.Name{Name: "Bob"}, Matches: 1}},
	}
	checkNotice(t, show(admin, "@", bob), bobs)
	checkNotice(t, show(admin, "bob"), bobs)
	checkNotice(t, show(admin, ""), ranking.Refusal{Code: ranking.NobodyToShow})
	checkNotice(t, show(admin, "@", command.Person{Username: "erin"}), ranking.Refusal{Code: ranking.NoSuchPlayer, Name: "@erin"})
	checkNotice(t, show(admin, "@ @", alice, bob), stats.UnclearPeople{Reason: stats.TooManyNamed, Command: "player"})
	for _, args := range []string{"bob", "nobody at all"} {
		checkNotice(t, show(nobodyIsAdmin, args), ranking.Refusal{Code: ranking.AdminsOnly})
	}
	g.has(t, players, "players")
}
