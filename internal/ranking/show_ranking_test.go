package ranking_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// page asks for the ranking.
func (g *game) page(t *testing.T, sender *ranking.Person) stats.RankingPage {
	t.Helper()
	o := g.origin(sender)
	if err := g.ShowRanking(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	page, ok := g.notice(t, o.Key).(stats.RankingPage)
	if !ok {
		t.Fatal("the answer is not a RankingPage")
	}
	return page
}

func TestShowRanking(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	checkNotice(t, g.page(t, &zoe), stats.RankingPage{Title: "Club"})
	if n := g.count(t, "players"); n != 0 {
		t.Errorf("asking created %d players", n)
	}
	for _, p := range []*ranking.Person{&zoe, &carol} {
		if err := g.Join(t.Context(), g.origin(p)); err != nil {
			t.Fatal(err)
		}
	}
	g.record(t, &alice, alice, bob, 3, 1)
	g.record(t, &alice, carol, ranking.Person{Username: "dave"}, 3, 1)
	g.record(t, &alice, carol, alice, 2, 2)
	row := func(position int, name string, elo, won, drawn, lost int) stats.Row {
		return stats.Row{Position: position, Name: ranking.Name{Name: name}, Elo: elo, Won: won, Drawn: drawn, Lost: lost}
	}
	want := stats.RankingPage{Title: "Club", Total: 4, Rows: []stats.Row{
		row(1, "Carol", 1516, 1, 1, 0), row(1, "Alice", 1516, 1, 1, 0), // Carol entered the ladder first
		row(3, "Bob", 1484, 0, 0, 1), row(3, "dave", 1484, 0, 0, 1), // Zoe has not played
	}}
	for _, asker := range []*ranking.Person{nil, &alice, &zoe, {ID: 999, Name: "Nobody"}} {
		checkNotice(t, g.page(t, asker), want)
	}
}

// TestRankingOfMany has 500 people. 450 of them have played, and four share each rating.
func TestRankingOfMany(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.page(t, nil)
	g.exec(t, `INSERT INTO players (telegram_user_id, display_name) SELECT n, 'P' || n FROM generate_series(1000, 1499) n`)
	g.exec(t, `
		INSERT INTO group_players (ladder_id, player_id, name, elo, start_elo, best_elo, played, drawn)
		SELECT l.id, p.id, p.display_name, e, 1500, greatest(e, 1500), played, played
		FROM ladders l, players p, LATERAL (SELECT 2000 - (telegram_user_id - 1000) / 4 AS e) AS rated,
		     LATERAL (SELECT (telegram_user_id < 1450)::int AS played) AS active
		ORDER BY p.id`)
	var want []stats.Row
	for i := range 20 {
		want = append(want, stats.Row{
			Position: i/4*4 + 1, Name: ranking.Name{Name: fmt.Sprintf("P%d", 1000+i)}, Elo: 2000 - i/4, Drawn: 1,
		})
	}
	person := func(id ranking.UserID) *ranking.Person { return &ranking.Person{ID: id, Name: fmt.Sprintf("P%d", id)} }
	for name, tc := range map[string]struct {
		asker *ranking.Person
		own   *stats.Row
	}{
		"anonymous":      {nil, nil},
		"on the page":    {person(1019), nil},
		"just below it":  {person(1020), &stats.Row{Position: 21, Name: ranking.Name{Name: "P1020"}, Elo: 1995, Drawn: 1}},
		"further down":   {person(1333), &stats.Row{Position: 333, Name: ranking.Name{Name: "P1333"}, Elo: 1917, Drawn: 1}},
		"has not played": {person(1450), nil},
	} {
		page := g.page(t, tc.asker)
		if diff := cmp.Diff(stats.RankingPage{Title: "Club", Total: 450, Rows: want, Own: tc.own}, page); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
