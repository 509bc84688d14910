package ranking_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// charted returns a chart of the named players.
func (g *game) charted(t *testing.T, names ...string) stats.Chart {
	t.Helper()
	n := stats.Chart{Period: stats.Month, Ladder: rows1[ladder.ID](t, g, `SELECT id FROM ladders`)[0]}
	for _, name := range names {
		player := rows1[ladder.PlayerID](t, g, `SELECT id FROM players WHERE display_name = $1`, name)[0]
		n.Players = append(n.Players, ranking.Name{Player: player})
	}
	return n
}

// storedChart returns the newest stored chart that meets an SQL condition. The players of the chart
// have ids and no names.
func (g *game) storedChart(t *testing.T, which string) stats.Chart {
	t.Helper()
	all := texts(t, g, `SELECT payload::text FROM outbox WHERE kind = 'chart' AND `+which+` ORDER BY id DESC LIMIT 1`)
	if len(all) != 1 {
		t.Fatalf("%d charts where %s", len(all), which)
	}
	var n stats.Chart
	must(t, json.Unmarshal([]byte(all[0]), &n))
	return n
}

// TestShowChart checks that without names, a chart highlights the first four players of the
// ranking. If the sender is further down in the ranking, the chart highlights the sender instead of
// the fourth player. With names, a chart shows the named people, each once, if all of them have
// played.
func TestShowChart(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	ask := func(sender *command.Person, people ...command.Person) string {
		t.Helper()
		o := g.origin(sender)
		g.question(t, about(o, people...), stats.ChartQuestion{Who: people, Period: stats.Month})
		return o.Key
	}
	checkNotice(t, g.notice(t, ask(&alice)), stats.RankingPage{Title: "Club", NoDraws: true, All: true, Unplaced: true})
	for range 5 { // enough matches for a place
		g.record(t, &alice, alice, bob, 3, 1)
		g.record(t, &alice, carol, zoe, 3, 1)
	}
	eve := command.Person{ID: 1200, Name: "Eve"}
	g.record(t, &eve, zoe, eve, 3, 1)
	for name, tc := range map[string]struct {
		sender *command.Person
		people []command.Person
		want   []string
	}{
		"nobody":             {nil, nil, []string{"Alice", "Carol", "Zoe", "Bob"}},
		"one of the first":   {&bob, nil, []string{"Alice", "Carol", "Zoe", "Bob"}},
		"one of the others":  {&eve, nil, []string{"Alice", "Carol", "Zoe", "Eve"}},
		"who has not played": {&command.Person{ID: 1300, Name: "Fay"}, nil, []string{"Alice", "Carol", "Zoe", "Bob"}},
		"people":             {&eve, []command.Person{zoe, bob, zoe}, []string{"Zoe", "Bob"}},
	} {
		key := ask(tc.sender, tc.people...)
		if got, want := g.storedChart(t, fmt.Sprintf("key = '%s'", key)),
			g.charted(t, tc.want...); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	fay := command.Person{ID: 1300, Name: "Fay"}
	checkNotice(t, g.notice(t, ask(&alice, fay)), ranking.Refusal{Code: ranking.NoSuchPlayer, Name: "Fay"})
	checkNotice(t, g.notice(t, ask(&fay, fay)), stats.PlayerStanding{})
	must(t, g.Do(t.Context(), g.origin(&fay), ranking.Join{}))
	checkNotice(t, standingIn(t, g.notice(t, ask(&alice, bob, fay))),
		stats.PlayerStanding{Name: ranking.Name{Name: "Fay"}, Other: true})
}

// TestPostChart checks that a press of the chart button on a player's page is answered and posts a
// chart as a reply. A press of a button below a chart replaces that chart.
func TestPostChart(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	bobs := g.charted(t, "Bob")
	o := g.press(&alice)
	for range 2 { // the second is a redelivery
		must(t, g.Do(t.Context(), o,
			ranking.Ask{Question: stats.PlayerChartQuestion{Player: bobs.Players[0].Player}, Posts: true}))
	}
	if got := g.storedChart(t, "action = 'send' AND reply_to = 77 AND alone"); fmt.Sprint(got) != fmt.Sprint(bobs) {
		t.Errorf("posted %+v, want %+v", got, bobs)
	}
	checkNotice(t, g.answer(t, o.Key, "action = 'callback_answer'"), ranking.Acknowledged{})
	g.has(t, 1, "outbox WHERE kind = 'chart'")
	turned := bobs
	turned.Period, turned.ByMatch = stats.AllTime, true
	must(t, g.Do(t.Context(), below(78, g.press(&bob)), ranking.Say{Notice: turned}))
	if got := g.storedChart(t, "action = 'page' AND edited_message_id = 78"); fmt.Sprint(got) != fmt.Sprint(turned) {
		t.Errorf("turned to %+v, want %+v", got, turned)
	}
}

// TestRatingsOfAPeriod checks that if none of a chart's players played in its period, the chart
// shows the shortest longer period in which one of them did. If a player's matches are all older
// than the period shown, the line of that player is level.
func TestRatingsOfAPeriod(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.corrupted = true
	g.record(t, &alice, alice, bob, 3, 1)
	g.record(t, &carol, carol, zoe, 3, 1)
	now := time.Unix(1_700_000_000, 0)
	for days, want := range map[int]stats.Period{1: stats.Month, 40: stats.ThreeMonths, 400: stats.AllTime} {
		g.exec(t, `UPDATE matches SET played_at = $1 WHERE number = 1`, now.AddDate(0, 0, -days))
		g.exec(t, `UPDATE matches SET played_at = $1 WHERE number = 2`, now.AddDate(0, 0, -days/2))
		r, err := g.questions().Ratings(t.Context(), g.charted(t, "Bob"), now)
		if err != nil || r.Period != want || len(r.Players[0]) != 2 || r.Title != "Club" {
			t.Errorf("after %d days: %+v, %v", days, r, err)
		}
		if days != 40 {
			continue
		}
		r, err = g.questions().Ratings(t.Context(), g.charted(t, "Bob", "Zoe"), now)
		level := []stats.Rating{{At: now.AddDate(0, 0, -days/2).UTC(), Match: 1, Elo: 1484}}
		if zoes := r.Players[1]; err != nil || r.Period != stats.Month ||
			fmt.Sprint(r.Players[0]) != fmt.Sprint(level) || len(zoes) != 2 {
			t.Errorf("of both: %+v, %v", r, err)
		}
	}
}
