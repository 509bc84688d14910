package ranking_test

import (
	"slices"
	"testing"
	"time"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// TestShowTop checks that the answer has the requested number of rows, or all if there are fewer.
// If the sender's own row is not among these rows, it follows below.
func TestShowTop(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	g.record(t, &alice, carol, zoe, 3, 1)
	row := func(name string, elo, won, lost int) stats.Row {
		return stats.Row{Name: ranking.Name{Name: name}, Elo: elo, Won: won, Lost: lost}
	}
	all := []stats.Row{row("Alice", 1516, 1, 0), row("Carol", 1516, 1, 0), row("Bob", 1484, 0, 1), row("Zoe", 1484, 0, 1)}
	for _, tc := range []struct {
		places int
		sender *command.Person
		rows   int
		own    int // index of the sender's row, -1 for no sender
	}{
		{1, nil, 1, -1}, {1, &bob, 1, 2}, {3, &bob, 3, 2}, {3, &zoe, 3, 3}, {4, &zoe, 4, 3}, {999_999_999, &zoe, 4, 3},
	} {
		o := g.origin(tc.sender)
		g.question(t, o, stats.RankingQuestion{Places: tc.places})
		want := stats.RankingPage{Title: "Club", Total: 4, PlaceMatches: 3, HideDays: 60, Unplaced: true,
			Rows: slices.Clone(all[:tc.rows]), NoDraws: true}
		if tc.sender != nil {
			own := all[tc.own]
			want.Asker, own.Mine = tc.sender.ID, true
			if tc.own < tc.rows {
				want.Rows[tc.own] = own
			} else {
				want.Own = &own
			}
		}
		checkNotice(t, g.notice(t, o.Key), want)
	}
}

// TestShowPlayer checks that an account is found by its id or by the username last seen in the
// group, and an unclaimed player by the mentioned username. Asking about anybody else is refused.
func TestShowPlayer(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	dave := command.Person{Username: "dave"}
	g.record(t, &alice, alice, bob, 3, 1)
	g.record(t, &carol, carol, dave, 3, 1)
	must(t, g.Do(t.Context(), g.origin(&zoe), ranking.Join{}))
	g.memberLeft(t, carol, time.Minute)
	players := g.count(t, "players")
	show := func(sender *command.Person, who command.Person) ranking.Notice {
		t.Helper()
		o := g.origin(sender)
		g.question(t, about(o, who), stats.PersonQuestion{Who: []command.Person{who}})
		return g.notice(t, o.Key)
	}
	check := func(sender *command.Person, who command.Person, want stats.PlayerStanding) {
		t.Helper()
		checkNotice(t, standingIn(t, show(sender, who)), want)
	}
	name := func(n string) ranking.Name { return ranking.Name{Name: n} }
	bobs := stats.PlayerStanding{
		Name: name("Bob"), PlaceMatches: 3, Elo: 1484, Best: 1500, Lost: 1, Streak: -1, Form: "l", Other: true,
	}
	for _, sender := range []*command.Person{nil, &alice, {ID: 999, Name: "Nobody"}} {
		for _, who := range []command.Person{bob, {Username: "BOB"}, {ID: bob.ID, Name: "Bob"}} {
			check(sender, who, bobs)
		}
	}
	own := bobs
	own.Other = false
	check(&bob, command.Person{Username: "bob"}, own)
	check(&alice, dave, stats.PlayerStanding{Name: name("dave"), PlaceMatches: 3, Elo: 1484,
		Best: 1500, Lost: 1, Streak: -1, Form: "l", Other: true})
	check(&alice, carol, stats.PlayerStanding{Name: name("Carol"), PlaceMatches: 3, Elo: 1516, Best: 1516,
		Won: 1, Streak: 1, Form: "w", Left: true, Other: true})
	check(&alice, zoe, stats.PlayerStanding{Name: name("Zoe"), PlaceMatches: 3, Elo: 1500, Best: 1500, Other: true})
	checkNotice(t, show(&alice, command.Person{Username: "erin"}),
		ranking.Refusal{Code: ranking.NoSuchPlayer, Name: "@erin"})
	checkNotice(t, show(&alice, command.Person{Username: "bobb"}),
		ranking.Refusal{Code: ranking.NoSuchPlayer, Name: "@bobb", Near: &ranking.Name{Name: "Bob"}})
	checkNotice(t, show(&alice, command.Person{ID: 998, Name: "Erin"}),
		ranking.Refusal{Code: ranking.NoSuchPlayer, Name: "Erin"})
	g.has(t, players, "players")
}

// TestShowHeadToHead checks that a command compares two players, and that the button on a player's
// page compares the player with the person who presses it. A comparison of a player with themselves
// or with a mentioned stranger is refused.
func TestShowHeadToHead(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	g.record(t, &alice, carol, bob, 3, 1)
	id := func(who command.Person) ladder.PlayerID {
		return rows1[ladder.PlayerID](t, g, `SELECT id FROM players WHERE telegram_user_id = $1`, who.ID)[0]
	}
	show := func(sender *command.Person, a, b command.Person) ranking.Notice {
		t.Helper()
		o := g.origin(sender)
		g.question(t, about(o, a, b), stats.HeadToHeadQuestion{Two: []command.Person{a, b}})
		return g.notice(t, o.Key)
	}
	against := func(n ranking.Notice) stats.HeadToHead {
		t.Helper()
		h, ok := n.(stats.HeadToHead)
		if !ok {
			t.Fatalf("the answer is %+v", n)
		}
		h.Won, h.Gained, h.For, h.Against, h.Last = 0, 0, 0, 0, nil // derived
		return h
	}
	name := func(n string) ranking.Name { return ranking.Name{Name: n} }
	want := stats.HeadToHead{A: name("Alice"), B: name("Bob"), Ratings: [2]int{1516, 1469}, Expected: 5672}
	checkNotice(t, against(show(&alice, alice, command.Person{Username: "bob"})), want)
	checkNotice(t, against(show(nil, alice, bob)), want)
	checkNotice(t, show(&alice, alice, command.Person{Username: "alice"}),
		stats.UnclearPeople{Reason: stats.SamePersonTwo, Command: "h2h"})
	checkNotice(t, show(&alice, alice, command.Person{Username: "erin"}),
		ranking.Refusal{Code: ranking.NoSuchPlayer, Name: "@erin"})
	checkNotice(t, show(&command.Person{ID: 999, Name: "Nobody"}, command.Person{ID: 999, Name: "Nobody"}, bob),
		stats.PlayerStanding{})
	checkNotice(t, show(&command.Person{ID: 999, Name: "Nobody"}, bob, command.Person{ID: 999, Name: "Nobody"}),
		stats.PlayerStanding{})

	turn := func(sender command.Person, player command.Person) (key string) {
		t.Helper()
		o := g.press(&sender)
		g.question(t, below(77, o), stats.AgainstSenderQuestion{Player: id(player)})
		return o.Key
	}
	key := turn(alice, bob)
	want.Back = id(bob)
	checkNotice(t, against(g.answer(t, key, page)), want)
	pages := g.count(t, "outbox WHERE action = 'page'")
	checkNotice(t, g.answer(t, turn(bob, bob), toast), stats.UnclearPeople{Reason: stats.SamePersonTwo, Command: "h2h"})
	nobody := command.Person{ID: 999, Name: "Nobody"}
	checkNotice(t, g.answer(t, turn(nobody, bob), toast), ranking.Refusal{Code: ranking.NotPlayed})
	twin := rows1[ladder.PlayerID](t, g, `INSERT INTO players (display_name, merged_into)
		VALUES ('Twin', $1) RETURNING id`, id(bob))[0]
	o := g.press(&bob)
	g.question(t, below(77, o), stats.AgainstSenderQuestion{Player: twin})
	checkNotice(t, g.answer(t, o.Key, toast), stats.UnclearPeople{Reason: stats.SamePersonTwo, Command: "h2h"})
	g.has(t, pages, "outbox WHERE action = 'page'")
	for _, sender := range []command.Person{alice, bob} {
		o := g.press(&sender)
		g.question(t, below(77, o), stats.PlayerQuestion{Player: id(bob)})
		if got := standingIn(t, g.answer(t, o.Key, page)); got.Other != (sender.ID == alice.ID) || got.Elo != 1469 {
			t.Errorf("the way back shows %+v", got)
		}
	}
}
