package main_test

import (
	"fmt"
	"slices"
	"testing"

	"elobot/internal/botsim"
)

// testPeopleWithoutUsername checks that people picked from the list of members are identified by
// their account, not by their name.
func testPeopleWithoutUsername(t *testing.T, b *botFixture) {
	sams := [2]botsim.User{b.sim.AddUser(botsim.User{FirstName: "Sam"}), b.sim.AddUser(botsim.User{FirstName: "Sam"})}
	group := b.sim.Group("Chess", b.olga, b.alice, b.bob, sams[0], sams[1])
	b.seen(group, b.bob)
	truth := newOracle()
	check := func(who botsim.User, known string) int {
		t.Helper()
		all := slices.DeleteFunc(b.standings(group), func(s standing) bool { return s.UserID != who.ID })
		if len(all) != 1 {
			t.Fatalf("%s has %d standings, want 1", known, len(all))
		}
		p := truth.Standings[known]
		if want := (standing{all[0].ID, p.Elo, p.Played, who.FirstName, who.ID}); all[0] != want {
			t.Errorf("%s has %+v, want %+v", known, all[0], want)
		}
		return all[0].ID
	}
	b.ask(group, b.alice, "/match "+mention(sams[0])+" 3:1")
	truth.play("Alice", "Sam (1)", 3, 1, "Alice")
	for _, m := range []struct {
		from, with    botsim.User
		first, second string
	}{{b.alice, sams[1], "Alice", "Sam (2)"}, {sams[1], sams[0], "Sam (2)", "Sam (1)"},
		{sams[0], b.bob, "Sam (1)", "Bob"}} {
		card := b.ask(group, m.from, "/match "+mention(m.with)+" 2:0")
		says(t, visible(card), truth.play(m.first, m.second, 2, 0, m.first))
	}
	ids := [2]int{check(sams[0], "Sam (1)"), check(sams[1], "Sam (2)")}
	checkRanking(t, group, b.bob, truth)
	says(t, visible(b.ask(group, sams[0], "/match "+mention(sams[0])+" 2:0")), "named only yourself")

	// Both get usernames. Before a message contains these usernames, the first Sam is picked from
	// the list of members again, and the second writes a message.
	sams[0].FirstName, sams[0].Username = "Samuel", "samuel"
	sams[1].FirstName, sams[1].Username = "Samantha", "samantha"
	b.sim.AddUser(sams[0])
	b.sim.AddUser(sams[1])
	b.ask(group, b.bob, fmt.Sprintf("/match [whoever](tg://user?id=%d) 0:1", sams[0].ID))
	truth.play("Bob", "Sam (1)", 0, 1, "")
	b.ask(group, sams[1], "/ranking")
	for i, known := range []string{"Sam (1)", "Sam (2)"} {
		says(t, visible(b.ask(group, b.bob, "/match @"+sams[i].Username+" 2:1")), "Bob beat "+sams[i].FirstName+" 2:1")
		truth.play("Bob", known, 2, 1, "")
		equal(t, check(sams[i], known), ids[i], "standing of %s", known)
	}
	if all := b.standings(group); len(all) != 4 {
		t.Errorf("the standings are %+v, want 4", all)
	}
	b.settle()
}
