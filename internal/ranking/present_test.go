package ranking_test

import (
	"fmt"
	"testing"

	"elobot/internal/command"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// TestPresent checks that a ranking of named people shows only these people, with their places in
// the whole ranking. People without a place come last: a newcomer, a player whom the ranking hides,
// and a person who has not played.
func TestPresent(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	dave := command.Person{Username: "dave"}
	for range 3 {
		before := g.origin(&carol)
		before.SentAt = before.SentAt.AddDate(0, 0, -40)
		must(t, g.RecordMatch(t.Context(), before, singles(carol, dave, 3, 1)))
		g.record(t, &alice, alice, bob, 3, 1)
		g.record(t, &alice, alice, command.Person{Username: "erin"}, 3, 1)
	}
	g.record(t, &carol, carol, zoe, 3, 1)
	g.join(t, command.Person{ID: 66, Username: "frank", Name: "Frank"})
	g.exec(t, `UPDATE ladders SET hide_days = 30`)
	places := make(map[string]stats.Row)
	for _, r := range g.page(t, &alice).Rows {
		places[r.Name.Name] = r
	}
	o := saying(g.origin(&bob), "ranking", "dave frank @ Zoe carol @ Bob", command.Person{Username: "erin"}, bob)
	must(t, g.Do(t.Context(), o, ranking.Ask{Question: stats.Typed{Form: stats.RankingCommand{}}}))
	got := g.notice(t, o.Key).(stats.RankingPage)
	row := func(name string, elo, lost int) stats.Row {
		return stats.Row{Name: ranking.Name{Name: name}, Elo: elo, Lost: lost, Inactive: lost > 1}
	}
	bobs := places["Bob"]
	bobs.Mine = true
	equal(t, "the rows", fmt.Sprintf("%+v", []stats.Row{
		places["Carol"], places["erin"], bobs, places["Zoe"], row("dave", 1456, 3), row("Frank", 1500, 0),
	}), fmt.Sprintf("%+v", got.Rows))
	if places["Carol"].Position == 0 || got.Total != 6 || got.Hidden != 0 {
		t.Errorf("the page is %+v", got)
	}
}
