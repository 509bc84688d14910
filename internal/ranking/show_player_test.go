package ranking_test

import (
	"testing"
	"time"

	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// TestShowTop: the first places come without buttons, and with the sender's own row.
func TestShowTop(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	g.record(t, &alice, carol, zoe, 3, 1)
	row := func(position int, name string, elo, won, lost int) stats.Row {
		return stats.Row{Position: position, Name: ranking.Name{Name: name}, Elo: elo, Won: won, Lost: lost}
	}
	all := []stats.Row{row(1, "Alice", 1516, 1, 0), row(1, "Carol", 1516, 1, 0), row(3, "Bob", 1484, 0, 1), row(3, "Zoe", 1484, 0, 1)}
	for _, tc := range []struct {
		places int
		sender *ranking.Person
		rows   int
		own    *stats.Row
	}{
		{1, nil, 1, nil}, {1, &bob, 1, &all[2]}, {3, &bob, 3, nil}, {3, &zoe, 3, &all[3]}, {4, &zoe, 4, nil}, {999_999_999, &zoe, 4, nil},
	} {
		o := g.origin(tc.sender)
		must(t, g.questions(g.Service).ShowTop(t.Context(), o, tc.places))
		checkNotice(t, g.notice(t, o.Key), stats.RankingPage{Title: "Club", Total: 4, Rows: all[:tc.rows], Own: tc.own})
	}
}

// TestShowPageBeyondTheEnd shows the last page.
func TestShowPageBeyondTheEnd(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	o := g.origin(nil)
	must(t, g.questions(g.Service).ShowRanking(t.Context(), o, 999_999_999))
	if page, ok := g.notice(t, o.Key).(stats.RankingPage); !ok || page.Page != 1 || len(page.Rows) != 2 {
		t.Errorf("the answer is %+v", page)
	}
}

// TestShowPlayer: a person is found by their account, by the username that they were last seen with in the group, or as
// somebody whom only results name.
func TestShowPlayer(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	dave := ranking.Person{Username: "dave"}
	g.record(t, &alice, alice, bob, 3, 1)
	g.record(t, &carol, carol, dave, 3, 1)
	must(t, g.Join(t.Context(), g.origin(&zoe)))
	g.memberLeft(t, carol, time.Minute)
	players := g.count(t, "players")
	show := func(sender *ranking.Person, who ranking.Person) ranking.Notice {
		t.Helper()
		o := g.origin(sender)
		must(t, g.questions(g.Service).ShowPlayer(t.Context(), o, who))
		return g.notice(t, o.Key)
	}
	name := func(n string) ranking.Name { return ranking.Name{Name: n} }
	bobs := stats.MyStanding{Name: name("Bob"), Position: 2, Total: 3, Elo: 1484, Best: 1500, Lost: 1, Streak: -1, Other: true}
	for _, sender := range []*ranking.Person{nil, &alice, {ID: 999, Name: "Nobody"}} {
		for _, who := range []ranking.Person{bob, {Username: "BOB"}, {ID: bob.ID, Name: "Bob"}} {
			checkNotice(t, show(sender, who), bobs)
		}
	}
	own := bobs
	own.Other = false
	checkNotice(t, show(&bob, ranking.Person{Username: "bob"}), own)
	checkNotice(t, show(&alice, dave), stats.MyStanding{
		Name: name("dave"), Position: 2, Total: 3, Elo: 1484, Best: 1500, Lost: 1, Streak: -1, Other: true,
	})
	checkNotice(t, show(&alice, carol), stats.MyStanding{Name: name("Carol"), Total: 3, Elo: 1516, Best: 1516, Won: 1, Streak: 1, Left: true, Other: true})
	checkNotice(t, show(&alice, zoe), stats.MyStanding{Name: name("Zoe"), Total: 3, Elo: 1500, Best: 1500, Other: true})
	checkNotice(t, show(&alice, ranking.Person{Username: "erin"}), ranking.Refusal{Code: ranking.NoSuchPlayer, Name: "@erin"})
	checkNotice(t, show(&alice, ranking.Person{ID: 998, Name: "Erin"}), ranking.Refusal{Code: ranking.NoSuchPlayer, Name: "Erin"})
	if n := g.count(t, "players"); n != players {
		t.Errorf("asking created %d players", n-players)
	}
	verifyClean(t, g.store)
}
