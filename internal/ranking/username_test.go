package ranking_test

import (
	"strings"
	"testing"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/ranking"
)

// TestUsernamesMeanCurrentOwner checks that the usernames that a report shows take effect before
// its mentions are resolved. A username that a person gave up does not mean that person, even in
// the report that shows the change.
func TestUsernamesMeanCurrentOwner(t *testing.T) {
	t.Parallel()
	robert := command.Person{ID: 2, Username: "robert", Name: "Bob"}
	for name, tc := range map[string]struct {
		before func(t *testing.T, g *game)
		sender command.Person
		a, b   command.Person
		want   string // the players: their user ids, or usernames if unclaimed
	}{
		"the old one has no owner":         {nil, robert, robert, named("bob"), "2 bob"},
		"the sender does not play":         {nil, robert, alice, named("bob"), "1 bob"},
		"the sender has none now":          {nil, command.Person{ID: 2, Name: "Bob"}, robert, named("BOB"), "2 BOB"},
		"the new one":                      {nil, robert, named("robert"), alice, "2 1"},
		"taken over from another":          {nil, command.Person{ID: 2, Username: "alice", Name: "Bob"}, carol, named("bob"), "3 bob"},
		"taken over, and mentioned":        {nil, command.Person{ID: 2, Username: "alice", Name: "Bob"}, named("alice"), carol, "2 3"},
		"swapped with one who plays":       {nil, command.Person{ID: 2, Username: "alice", Name: "Bob"}, command.Person{ID: 1, Username: "bob", Name: "Alice"}, carol, "1 3"},
		"swapped, and mentioned":           {nil, command.Person{ID: 2, Username: "alice", Name: "Bob"}, command.Person{ID: 1, Username: "bob", Name: "Alice"}, named("alice"), "1 2"},
		"a player has given one up":        {nil, carol, command.Person{ID: 2, Username: "robert", Name: "Bob"}, named("bob"), "2 bob"},
		"the new one was unclaimed":        {names("robert"), robert, robert, named("bob"), "2 bob"},
		"taken over from an absent player": {seen(command.Person{ID: 4, Username: "robert", Name: "Zoe"}), robert, robert, named("bob"), "2 bob"},
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
		})
	}
}

// seen returns a function that has people join, so that their accounts are known.
func seen(people ...command.Person) func(*testing.T, *game) {
	return func(t *testing.T, g *game) {
		t.Helper()
		for _, p := range people {
			must(t, g.Do(t.Context(), g.origin(&p), ranking.Join{}))
		}
	}
}

// names returns a function that has Alice report a match against an unclaimed player with this
// username.
func names(username string) func(*testing.T, *game) {
	return func(t *testing.T, g *game) {
		t.Helper()
		g.record(t, &alice, alice, named(username), 3, 1)
	}
}

func someone(id ladder.UserID, username, name string) command.Person {
	return command.Person{ID: id, Username: username, Name: name}
}

func named(username string) command.Person { return command.Person{Username: username} }
