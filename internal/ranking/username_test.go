package ranking_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/ranking"
)

// TestUsernamesMeanWhoHasThemNow: a report shows the username that its sender has by now. Whoever is named in it is looked
// up only after that, so that a username which the sender has given up means somebody else from the first report on.
func TestUsernamesMeanCurrentOwner(t *testing.T) {
	t.Parallel()
	robert := ranking.Person{ID: 2, Username: "robert", Name: "Bob"}
	for name, tc := range map[string]struct {
		before func(t *testing.T, g *game)
		sender ranking.Person
		a, b   ranking.Person
		want   string // who played: their user ids, or their usernames as long as they have no id
	}{
		"the old one is nobody's":         {nil, robert, robert, named("bob"), "2 bob"},
		"the sender does not play":        {nil, robert, alice, named("bob"), "1 bob"},
		"the sender has none any more":    {nil, ranking.Person{ID: 2, Name: "Bob"}, robert, named("BOB"), "2 BOB"},
		"the new one":                     {nil, robert, named("robert"), alice, "2 1"},
		"taken over from another":         {nil, ranking.Person{ID: 2, Username: "alice", Name: "Bob"}, carol, named("bob"), "3 bob"},
		"taken over, and named by it":     {nil, ranking.Person{ID: 2, Username: "alice", Name: "Bob"}, named("alice"), carol, "2 3"},
		"swapped with one who plays":      {nil, ranking.Person{ID: 2, Username: "alice", Name: "Bob"}, ranking.Person{ID: 1, Username: "bob", Name: "Alice"}, carol, "1 3"},
		"swapped, and named by it":        {nil, ranking.Person{ID: 2, Username: "alice", Name: "Bob"}, ranking.Person{ID: 1, Username: "bob", Name: "Alice"}, named("alice"), "1 2"},
		"a player has given one up":       {nil, carol, ranking.Person{ID: 2, Username: "robert", Name: "Bob"}, named("bob"), "2 bob"},
		"the new one was only named yet":  {names("robert"), robert, robert, named("bob"), "2 bob"},
		"taken over from one who is away": {seen(ranking.Person{ID: 4, Username: "robert", Name: "Zoe"}), robert, robert, named("bob"), "2 bob"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGame(t)
			seen(alice, bob, carol)(t, g)
			if tc.before != nil {
				tc.before(t, g)
			}
			notice := g.record(t, &tc.sender, tc.a, tc.b, 3, 1)
			if _, ok := notice.(ranking.MatchRecorded); !ok {
				t.Fatalf("the report is answered with %+v", notice)
			}
			played := texts(t, g, `
				SELECT coalesce(p.telegram_user_id::text, p.username)
				FROM match_players mp JOIN players p ON p.id = mp.player_id
				WHERE mp.match_id = (SELECT max(id) FROM matches) ORDER BY mp.side`)
			if got := strings.Join(played, " "); got != tc.want {
				t.Errorf("%s played, want %s", got, tc.want)
			}
			verifyClean(t, g.store)
		})
	}
}

// TestUsernamesThatChangeHandsAreKept: everybody has the username that was seen last, after one report.
func TestTransferredUsernamesAreStored(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	seen(alice, bob, carol)(t, g)
	g.record(t, &ranking.Person{ID: 2, Username: "Alice", Name: "Bob"}, carol, named("bob"), 3, 1)
	want := []string{"1 ", "2 Alice", "3 carol", " bob"}
	got := texts(t, g, `SELECT concat(telegram_user_id, ' ', username) FROM players ORDER BY telegram_user_id`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the players are (-want +got):\n%s", diff)
	}
}

// seen has all of these play, so that they are known by what they are called then.
func seen(people ...ranking.Person) func(*testing.T, *game) {
	return func(t *testing.T, g *game) {
		t.Helper()
		for _, p := range people {
			must(t, g.Join(t.Context(), g.origin(&p)))
		}
	}
}

// names has Alice report a match against somebody who has not been seen.
func names(username string) func(*testing.T, *game) {
	return func(t *testing.T, g *game) {
		t.Helper()
		g.record(t, &alice, alice, named(username), 3, 1)
	}
}
