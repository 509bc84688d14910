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
	checkNotice(t, g.page(t, &zoe), stats.RankingPage{Title: "Club", Page: 1, Asker: zoe.ID})
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
	want := stats.RankingPage{Title: "Club", Page: 1, Total: 4, Rows: []stats.Row{
		row(1, "Carol", 1516, 1, 1, 0), row(1, "Alice", 1516, 1, 1, 0), // Carol entered the ladder first
		row(3, "Bob", 1484, 0, 0, 1), row(3, "dave", 1484, 0, 0, 1), // Zoe has not played
	}}
	for _, asker := range []*ranking.Person{nil, &alice, &zoe, {ID: 999, Name: "Nobody"}} {
		if want.Asker = 0; asker != nil {
			want.Asker = asker.ID
		}
		checkNotice(t, g.page(t, asker), want)
	}
}

// newCrowd is a game with 500 people. 450 of them have played, and four share each rating.
func newCrowd(t *testing.T) *game {
	t.Helper()
	g := newGame(t)
	g.addCrowd(t)
	return g
}

func (g *game) addCrowd(t *testing.T) {
	t.Helper()
	g.page(t, nil)
	g.exec(t, `INSERT INTO players (telegram_user_id, display_name) SELECT n, 'P' || n FROM generate_series(1000, 1499) n`)
	g.exec(t, `
		INSERT INTO group_players (ladder_id, player_id, name, elo, start_elo, best_elo, played, drawn)
		SELECT l.id, p.id, p.display_name, e, 1500, greatest(e, 1500), played, played
		FROM ladders l, players p, LATERAL (SELECT 2000 - (telegram_user_id - 1000) / 4 AS e) AS rated,
		     LATERAL (SELECT (telegram_user_id < 1450)::int AS played) AS active
		ORDER BY p.id`)
}

// crowdPage is a page of the ranking of newCrowd.
func crowdPage(number int) stats.RankingPage {
	n := stats.RankingPage{Title: "Club", Page: number, Total: 450}
	for i := 10 * (number - 1); i < 10*number; i++ {
		n.Rows = append(n.Rows, crowdRow(i))
	}
	return n
}

func crowdRow(i int) stats.Row {
	return stats.Row{Position: i/4*4 + 1, Name: ranking.Name{Name: fmt.Sprintf("P%d", 1000+i)}, Elo: 2000 - i/4, Drawn: 1}
}

// TestRankingOfMany shows the first page, and the asker's own line if it is not there.
func TestRankingOfMany(t *testing.T) {
	t.Parallel()
	g := newCrowd(t)
	for name, tc := range map[string]struct {
		asker ranking.UserID
		own   int // 0: none
	}{
		"anonymous": {}, "on the page": {asker: 1009}, "just below it": {1010, 10}, "further down": {1333, 333}, "has not played": {asker: 1450},
	} {
		var asker *ranking.Person
		if tc.asker != 0 {
			asker = &ranking.Person{ID: tc.asker, Name: fmt.Sprintf("P%d", tc.asker)}
		}
		want := crowdPage(1)
		want.Asker = tc.asker
		if tc.own != 0 {
			row := crowdRow(tc.own)
			want.Own = &row
		}
		if diff := cmp.Diff(want, g.page(t, asker)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
