package ranking_test

import (
	"fmt"
	"testing"
	"time"

	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// askStanding sends /me and returns the answer.
func (g *game) askStanding(t *testing.T, chat ranking.Chat, sender *ranking.Person) ranking.Notice {
	t.Helper()
	o := g.origin(sender)
	o.Chat = chat
	must(t, g.ShowMe(t.Context(), o))
	return g.notice(t, o.Key)
}

func TestShowMeInAGroup(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	checkNotice(t, g.askStanding(t, club, nil), ranking.Refusal{Code: ranking.NobodyToShow})
	checkNotice(t, g.askStanding(t, club, &alice), stats.MyStanding{})
	if n := g.count(t, "players"); n != 0 {
		t.Errorf("asking created %d players", n)
	}
	must(t, g.Join(t.Context(), g.origin(&zoe)))
	g.record(t, &alice, alice, bob, 3, 1)
	g.record(t, &alice, carol, ranking.Person{Username: "dave"}, 3, 1)
	g.record(t, &alice, alice, carol, 2, 2)
	g.record(t, &alice, alice, bob, 0, 3)
	name := func(n string) ranking.Name { return ranking.Name{Name: n} }
	checkNotice(t, g.askStanding(t, club, &zoe), stats.MyStanding{Name: name("Zoe"), Total: 4, Elo: 1500, Best: 1500})
	checkNotice(t, g.askStanding(t, club, &alice), stats.MyStanding{
		Name: name("Alice"), Position: 3, Total: 4, Elo: 1499, Best: 1516, Won: 1, Drawn: 1, Lost: 1, Streak: -1,
	})
	checkNotice(t, g.askStanding(t, club, &carol), stats.MyStanding{
		Name: name("Carol"), Position: 1, Total: 4, Elo: 1516, Best: 1516, Won: 1, Drawn: 1,
	})
	g.memberLeft(t, carol, time.Minute)
	checkNotice(t, g.askStanding(t, club, &carol), stats.MyStanding{
		Name: name("Carol"), Total: 3, Elo: 1516, Best: 1516, Won: 1, Drawn: 1, Left: true,
	})
	checkNotice(t, g.askStanding(t, club, &alice), stats.MyStanding{
		Name: name("Alice"), Position: 2, Total: 3, Elo: 1499, Best: 1516, Won: 1, Drawn: 1, Lost: 1, Streak: -1,
	})
}

func TestShowMeInPrivate(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	checkNotice(t, g.askStanding(t, alicePrivate, &alice), stats.MyStandings{})
	group := func(n int) ranking.Chat {
		return ranking.Chat{ID: ranking.ExternalChatID(-1000 - n), Kind: ranking.Group, Title: fmt.Sprintf("Club %d", n)}
	}
	play := func(n int, a, b ranking.Person) {
		t.Helper()
		o := g.origin(&a)
		o.Chat = group(n)
		must(t, g.RecordMatch(t.Context(), o, singles(a, b, 3, 1)))
	}
	play(1, alice, bob)
	play(2, alice, bob)
	play(2, carol, alice)
	play(3, bob, carol) // without Alice
	for _, n := range []int{4, 5} {
		play(n, alice, bob)
	}
	must(t, g.MemberLeft(t.Context(), g.eventOrigin(group(4), time.Minute), alice))
	must(t, g.BotRemoved(t.Context(), g.eventOrigin(group(5), time.Minute)))
	joined := g.origin(&alice)
	joined.Chat = group(6)
	must(t, g.Join(t.Context(), joined))
	checkNotice(t, g.askStanding(t, alicePrivate, &alice), stats.MyStandings{Groups: []stats.GroupStanding{
		{Title: "Club 2", Position: 2, Total: 3, Elo: 1499, Won: 1, Lost: 1},
		{Title: "Club 1", Position: 1, Total: 2, Elo: 1516, Won: 1},
	}})
	must(t, g.BotAdded(t.Context(), g.eventOrigin(group(5), time.Hour), greeting{}))
	must(t, g.MemberLeft(t.Context(), g.eventOrigin(group(1), time.Hour), bob))
	checkNotice(t, g.askStanding(t, alicePrivate, &alice), stats.MyStandings{Groups: []stats.GroupStanding{
		{Title: "Club 2", Position: 2, Total: 3, Elo: 1499, Won: 1, Lost: 1},
		{Title: "Club 1", Position: 1, Total: 1, Elo: 1516, Won: 1},
		{Title: "Club 5", Position: 1, Total: 2, Elo: 1516, Won: 1},
	}})
	checkNotice(t, g.askStanding(t, alicePrivate, nil), ranking.Refusal{Code: ranking.NobodyToShow})
	for n := range 21 {
		play(100+n, alice, bob)
	}
	if got := g.askStanding(t, alicePrivate, &alice).(stats.MyStandings); len(got.Groups) != 20 || got.More != 4 {
		t.Errorf("got %d groups and %d more, want 20 and 4", len(got.Groups), got.More)
	}
}
