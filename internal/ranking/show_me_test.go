package ranking_test

import (
	"fmt"
	"testing"
	"time"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// askStanding sends /me to a chat and returns the answer.
func (g *game) askStanding(t *testing.T, chat ranking.Chat, sender *command.Person) ranking.Notice {
	t.Helper()
	o := g.origin(sender)
	o.Chat = chat
	must(t, g.ShowMe(t.Context(), o))
	return g.notice(t, o.Key)
}

// standingIn returns the standing in an answer, without the fields about single matches and
// opponents.
func standingIn(t *testing.T, n ranking.Notice) stats.PlayerStanding {
	t.Helper()
	s, ok := n.(stats.PlayerStanding)
	if !ok {
		t.Fatalf("the answer is %+v", n)
	}
	s.Last, s.BestIn, s.Most, s.Favorite, s.Hardest = nil, nil, nil, nil, nil
	return s
}

func TestShowMeInAGroup(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	checkNotice(t, g.askStanding(t, club, nil), ranking.Refusal{Code: ranking.NobodyToShow})
	checkNotice(t, g.askStanding(t, club, &alice), stats.PlayerStanding{})
	g.has(t, 0, "players")
	must(t, g.Do(t.Context(), g.origin(&zoe), ranking.Join{}))
	g.record(t, &alice, alice, bob, 3, 1)
	g.record(t, &alice, carol, command.Person{Username: "dave"}, 3, 1)
	g.record(t, &alice, alice, carol, 2, 2)
	g.record(t, &alice, alice, bob, 0, 3)
	ask := func(who *command.Person) stats.PlayerStanding {
		t.Helper()
		return standingIn(t, g.askStanding(t, club, who))
	}
	name := func(n string) ranking.Name { return ranking.Name{Name: n} }
	checkNotice(t, ask(&zoe), stats.PlayerStanding{Name: name("Zoe"), PlaceMatches: 3, Elo: 1500, Best: 1500})
	checkNotice(t, ask(&alice), stats.PlayerStanding{
		Name: name("Alice"), PlaceMatches: 3, Elo: 1499, Best: 1516, Won: 1, Drawn: 1, Lost: 1, Streak: -1, Form: "wdl",
	})
	for range 4 {
		g.record(t, &alice, alice, carol, 2, 2)
	}
	g.record(t, &bob, bob, zoe, 2, 2) // Bob's third match, so now three players have enough for a place
	alices := stats.PlayerStanding{
		Name: name("Alice"), Position: 2, Total: 3, PlaceMatches: 3, Elo: 1503, Best: 1516,
		Won: 1, Drawn: 5, Lost: 1, Form: "wdldddd",
	}
	checkNotice(t, ask(&alice), alices)
	carols := stats.PlayerStanding{
		Name: name("Carol"), Position: 1, Total: 3, PlaceMatches: 3, Elo: 1512, Best: 1516, Won: 1, Drawn: 5, Form: "wddddd",
	}
	checkNotice(t, ask(&carol), carols)
	g.memberLeft(t, carol, time.Minute)
	carols.Position, carols.Total, carols.Left = 0, 0, true
	checkNotice(t, ask(&carol), carols)
	alices.Position, alices.Total = 0, 0 // only two players remain
	checkNotice(t, ask(&alice), alices)
	o := g.origin(&alice)
	o.SentAt = o.SentAt.AddDate(0, 0, 60)
	must(t, g.ShowMe(t.Context(), o))
	alices.Inactive = true
	checkNotice(t, standingIn(t, g.notice(t, o.Key)), alices)
}

// TestShowMeOfWhoLeft checks that /me says the same about a member who has left the group and one
// who has left the ranking, and that /join brings back both.
func TestShowMeOfWhoLeft(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	g.memberLeft(t, alice, time.Minute)
	g.leave(t, bob, ranking.HowLeft)
	for _, isOut := range []bool{true, false} {
		for _, p := range []command.Person{alice, bob} {
			if got := standingIn(t, g.askStanding(t, club, &p)); got.Left != isOut {
				t.Errorf("%s is shown as %+v", p.Name, got)
			}
			join := g.origin(&p)
			join.SentAt = join.SentAt.Add(time.Hour)
			must(t, g.Do(t.Context(), join, ranking.Join{}))
		}
	}
}

// TestShowLastMatches checks that /me lists the sender's last five matches that count, from the
// sender's point of view.
func TestShowLastMatches(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	for i := range 7 {
		g.record(t, &alice, alice, bob, i, 2)
	}
	doubles := g.origin(&alice)
	must(t, g.RecordMatch(t.Context(), doubles, command.Match{
		A: []command.Person{bob, carol}, B: []command.Person{zoe, alice}, Scores: []ladder.Score{{A: 7, B: 10}},
	}))
	must(t, g.Do(t.Context(), g.origin(&alice),
		ranking.UndoMatch{Amendment: ranking.Amendment{Match: ranking.MatchRef{Number: 6}}}))
	got, ok := g.askStanding(t, club, &alice).(stats.PlayerStanding)
	if !ok || got.Form != "lldwwww" || len(got.Last) != stats.LastMatches {
		t.Fatalf("the answer is %+v", got)
	}
	for i, want := range []string{"#8 Bob Carol 10:7", "#7 Bob 6:2", "#5 Bob 4:2", "#4 Bob 3:2", "#3 Bob 2:2"} {
		m := got.Last[i]
		text := fmt.Sprintf("#%d", m.Number)
		for _, n := range m.Against {
			text += " " + n.Name
		}
		text += fmt.Sprintf(" %d:%d", m.Score[0], m.Score[1])
		if text != want || m.At.IsZero() || i < 4 && m.Change <= 0 {
			t.Errorf("match %d is %s, %+v, want %s", i, text, m, want)
		}
	}
}

func TestShowMeInPrivate(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	checkNotice(t, g.askStanding(t, alicePrivate, &alice), stats.MyStandings{})
	group := func(n int) ranking.Chat {
		return ranking.Chat{ID: ranking.ExternalChatID(-1000 - n), Kind: ranking.Group, Title: fmt.Sprintf("Club %d", n)}
	}
	play := func(n int, a, b command.Person) {
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
	must(t, g.Do(t.Context(), joined, ranking.Join{}))
	checkNotice(t, g.askStanding(t, alicePrivate, &alice), stats.MyStandings{Groups: []stats.GroupStanding{
		{Title: "Club 2", PlaceMatches: 3, Elo: 1499, Won: 1, Lost: 1},
		{Title: "Club 1", PlaceMatches: 3, Elo: 1516, Won: 1},
	}})
	for range 4 {
		play(1, alice, bob)
		play(1, zoe, carol)
	}
	must(t, g.BotAdded(t.Context(), g.eventOrigin(group(5), time.Hour), greeting{}))
	must(t, g.MemberLeft(t.Context(), g.eventOrigin(group(1), time.Hour), bob))
	groups := g.askStanding(t, alicePrivate, &alice).(stats.MyStandings)
	checkNotice(t, groups, stats.MyStandings{Groups: []stats.GroupStanding{
		{Title: "Club 1", Position: 1, Total: 3, PlaceMatches: 3, Elo: groups.Groups[0].Elo, Won: 5},
		{Title: "Club 2", PlaceMatches: 3, Elo: 1499, Won: 1, Lost: 1},
		{Title: "Club 5", PlaceMatches: 3, Elo: 1516, Won: 1},
	}})
	checkNotice(t, g.askStanding(t, alicePrivate, nil), ranking.Refusal{Code: ranking.NobodyToShow})
	for n := range 21 {
		play(100+n, alice, bob)
	}
	if got := g.askStanding(t, alicePrivate, &alice).(stats.MyStandings); len(got.Groups) != 20 || got.More != 4 {
		t.Errorf("got %d groups and %d more, want 20 and 4", len(got.Groups), got.More)
	}
}
