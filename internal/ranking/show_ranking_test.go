package ranking_test

import (
	"fmt"
	"testing"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// page has a person ask for the ranking and returns the answer.
func (g *game) page(t *testing.T, sender *command.Person) stats.RankingPage {
	t.Helper()
	o := g.origin(sender)
	must(t, g.ShowRanking(t.Context(), o))
	page, ok := g.notice(t, o.Key).(stats.RankingPage)
	if !ok {
		t.Fatal("the answer is not a RankingPage")
	}
	return page
}

func TestShowRanking(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	checkNotice(t, g.page(t, &zoe),
		stats.RankingPage{Title: "Club", Page: 1, Asker: zoe.ID, NoDraws: true, Unplaced: true})
	g.has(t, 0, "players")
	for _, p := range []*command.Person{&zoe, &carol} {
		must(t, g.Do(t.Context(), g.origin(p), ranking.Join{}))
	}
	g.record(t, &alice, alice, bob, 3, 1)
	g.record(t, &alice, carol, command.Person{Username: "dave"}, 3, 1)
	g.record(t, &alice, carol, alice, 2, 2)
	row := func(position int, name string, elo, won, drawn, lost int) stats.Row {
		return stats.Row{Position: position, Name: ranking.Name{Name: name}, Elo: elo, Won: won, Drawn: drawn, Lost: lost}
	}
	zoes := row(0, "Zoe", 1500, 0, 0, 0) // has not played
	zoes.Mine = true
	for _, asker := range []*command.Person{nil, &alice, &zoe, {ID: 999, Name: "Nobody"}} {
		want := stats.RankingPage{Title: "Club", Page: 1, Total: 4, PlaceMatches: 3, HideDays: 60, Unplaced: true,
			Rows: []stats.Row{
				// Players with equal ratings are in the order in which they entered the ladder.
				row(0, "Carol", 1516, 1, 1, 0), row(0, "Alice", 1516, 1, 1, 0),
				row(0, "Bob", 1484, 0, 0, 1), row(0, "dave", 1484, 0, 0, 1),
			}}
		switch asker {
		case &alice:
			want.Rows[1].Mine = true
		case &zoe:
			want.Own = &zoes
		}
		if asker != nil {
			want.Asker = asker.ID
		}
		checkNotice(t, g.page(t, asker), want)
	}
}

// TestPlacesBegin checks that until three players have enough matches for a place, there is one
// list by rating, without places. If an admin changes how many matches a place requires, the change
// applies at once.
func TestPlacesBegin(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	check := func(what, want string) {
		t.Helper()
		got := ""
		for _, r := range g.page(t, nil).Rows {
			got += fmt.Sprintf("%d %s ", r.Position, r.Name.Name)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	dave := command.Person{ID: 104, Name: "Dave"}
	for range 3 {
		g.record(t, &alice, alice, bob, 3, 1)
	}
	g.record(t, &alice, carol, dave, 3, 1)
	g.record(t, &alice, carol, dave, 3, 1)
	check("two with three matches", "0 Alice 0 Carol 0 Dave 0 Bob ")
	g.record(t, &alice, carol, zoe, 2, 2)
	check("three with three", "1 Alice 2 Carol 3 Bob 0 Zoe 0 Dave ")
	checkNotice(t, g.choose(t, &alice, choice(ranking.SettingPlace, "5")),
		ranking.SettingChanged{Name: ranking.SettingPlace, Before: "3", After: "5"})
	check("nobody with five", "0 Alice 0 Carol 0 Zoe 0 Dave 0 Bob ")
	g.choose(t, &alice, choice(ranking.SettingPlace, "1"))
	check("all with one", "1 Alice 2 Carol 3 Zoe 4 Dave 5 Bob ")
}

// newCrowd returns a game with 500 people, four per rating. 450 of them have played.
func newCrowd(t *testing.T) *game {
	t.Helper()
	g := newGame(t)
	g.addCrowd(t)
	return g
}

func (g *game) addCrowd(t *testing.T) {
	t.Helper()
	g.corrupted = true
	g.page(t, nil)
	g.exec(t, `INSERT INTO players (telegram_user_id, display_name) SELECT n, 'P' || n FROM generate_series(1000, 1499) n`)
	g.exec(t, `
		INSERT INTO group_players (season_id, player_id, name, elo, start_elo, best_elo, played, drawn, last_played_at)
		SELECT l.id, p.id, p.display_name, e, 1500, greatest(e, 1500), played, played, CASE WHEN played > 0 THEN now() END
		FROM ladders l, players p, LATERAL (SELECT 2000 - (telegram_user_id - 1000) / 4 AS e) AS rated,
		     LATERAL (SELECT 5 * (telegram_user_id < 1450)::int AS played) AS active
		ORDER BY p.id`)
}

// crowdPage returns a page of newCrowd's ranking, with the row of the asker on or below it. own is
// how many people come before the asker, -1 if the asker is not in the ranking.
func crowdPage(number int, asker ladder.UserID, own int) stats.RankingPage {
	n := stats.RankingPage{Title: "Club", Page: number, Total: 450, Asker: asker, PlaceMatches: 3, HideDays: 60}
	for i := 10 * (number - 1); i < 10*number; i++ {
		n.Rows = append(n.Rows, crowdRow(i))
	}
	switch at := own - 10*(number-1); {
	case own < 0:
	case 0 <= at && at < 10:
		n.Rows[at].Mine = true
	default:
		row := crowdRow(own)
		row.Mine, n.Own = true, &row
	}
	return n
}

func crowdRow(i int) stats.Row {
	return stats.Row{Position: i/4*4 + 1, Name: ranking.Name{Name: fmt.Sprintf("P%d", 1000+i)}, Elo: 2000 - i/4, Drawn: 5}
}

// TestRankingOfMany checks that the asker's own row is shown below the first page, unless the row
// is on that page or the asker has none.
func TestRankingOfMany(t *testing.T) {
	t.Parallel()
	g := newCrowd(t)
	for name, tc := range map[string]struct {
		asker ladder.UserID
		own   int
	}{
		"anonymous": {0, -1}, "on the page": {1009, 9}, "just below it": {1010, 10}, "further down": {1333, 333}, "unknown": {77, -1},
	} {
		var asker *command.Person
		if tc.asker != 0 {
			asker = &command.Person{ID: tc.asker, Name: fmt.Sprintf("P%d", tc.asker)}
		}
		equal(t, name, crowdPage(1, tc.asker, tc.own), g.page(t, asker))
	}
}

// TestRestOfBoard checks that the button of the board posts the page that follows the players on
// the board. The page marks the row of the person who pressed the button.
func TestRestOfBoard(t *testing.T) {
	t.Parallel()
	g := newCrowd(t)
	o := below(78, g.press(&command.Person{ID: 1023, Name: "P1023"}))
	must(t, g.Do(t.Context(), o, ranking.Ask{Question: stats.RestQuestion{}, Posts: true}))
	equal(t, "page", crowdPage(3, 1023, 23), g.answer(t, o.Key, "action = 'send'"))
}
