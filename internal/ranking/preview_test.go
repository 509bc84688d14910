package ranking_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// odds asks for the odds of two sides, and returns the answer.
func (g *game) odds(t *testing.T, sender *command.Person, a, b []command.Person) ranking.Notice {
	t.Helper()
	o := g.origin(sender)
	g.question(t, about(o, slices.Concat(a, b)...), stats.OddsQuestion{Sides: [2][]command.Person{a, b}})
	return g.notice(t, o.Key)
}

// TestOddsComeTrue checks that a match recorded right after the question changes the ratings
// exactly as the answer said, under random rules and with new players.
func TestOddsComeTrue(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	people := []command.Person{alice, bob, carol, zoe, {Username: "dave"}, {Username: "eve"}}
	rapid.Check(t, func(rt *rapid.T) {
		k, first := rapid.IntRange(1, 400).Draw(rt, "K"), rapid.IntRange(0, 5).Draw(rt, "provisional matches")
		uneven := rapid.Bool().Draw(rt, "uneven")
		g.exec(t, `UPDATE ladders SET k_factor = $1, provisional_matches = $2,
			provisional_k_factor = CASE WHEN $2 > 0 THEN 2 * $1 ELSE 0 END,
			margin_of_victory = $3, uneven_teams_allowed = $4`, k, first, rapid.Bool().Draw(rt, "margin"), uneven)
		playing := rapid.Permutation(people).Draw(rt, "people")[:rapid.IntRange(2, len(people)).Draw(rt, "number")]
		at := len(playing) / 2
		if uneven {
			at = rapid.IntRange(1, len(playing)-1).Draw(rt, "first side")
		}
		a, b := playing[:at], playing[at:]
		if !uneven {
			b = playing[at : 2*at]
		}
		n := g.odds(t, &alice, a, b).(stats.Odds)
		score := rapid.SampledFrom([]ladder.Score{{A: 1}, {B: 1}, {A: 7, B: 6}, {A: 2, B: 2}}).Draw(rt, "score")
		o := g.origin(&alice)
		must(t, g.RecordMatch(t.Context(), o, command.Match{A: a, B: b, Scores: []ladder.Score{score}}))
		var want []int
		for side, players := range n.Sides {
			for _, p := range players {
				switch {
				case score.A == score.B:
					want = append(want, p.Draw)
				case (score.A > score.B) == (side == 0):
					want = append(want, p.Win)
				default:
					want = append(want, p.Lose)
				}
			}
		}
		got := rows1[int](t, g, `SELECT h.elo_after - h.elo_before
			FROM elo_history h JOIN matches m ON m.id = h.match_id
			JOIN match_players mp ON mp.match_id = m.id AND mp.player_id = h.player_id
			WHERE m.idempotency_key = $1 ORDER BY mp.place`, o.Key)
		if !slices.Equal(got, want) {
			rt.Fatalf("%+v: the ratings changed by %v, and the answer said %v", score, got, want)
		}
	})
}

// TestOddsAboutStrangers checks that a question about odds or teams adds no players. The answer
// about odds marks people who have not played.
func TestOddsAboutStrangers(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	dave, eve := command.Person{Username: "dave"}, command.Person{Username: "Eve"}
	n := g.odds(t, &alice, []command.Person{alice}, []command.Person{dave})
	checkNotice(t, n, stats.Odds{Expected: 50, Draws: true, Sides: [2][]stats.OddsPlayer{
		{{Name: ranking.Name{Name: "Alice"}, Elo: 1500, Win: 16, Lose: -16, New: true}},
		{{Name: ranking.Name{Name: "@dave"}, Elo: 1500, Win: 16, Lose: -16, New: true}},
	}})
	g.record(t, &alice, alice, bob, 3, 1)
	before := g.count(t, "players")
	n = g.odds(t, &alice, []command.Person{alice}, []command.Person{{Username: "BOB"}})
	checkNotice(t, n, stats.Odds{Expected: 55, Draws: true, Sides: [2][]stats.OddsPlayer{
		{{Name: ranking.Name{Name: "Alice"}, Elo: 1516, Win: 15, Lose: -17, Draw: -1}},
		{{Name: ranking.Name{Name: "Bob"}, Elo: 1484, Win: 17, Lose: -15, Draw: 1}},
	}})
	for what, tc := range map[string]struct {
		a, b []command.Person
		want ranking.RefusalCode
	}{
		"uneven teams":  {[]command.Person{alice, bob}, []command.Person{dave}, ranking.UnevenTeams},
		"one person":    {[]command.Person{alice}, []command.Person{{Username: "ALICE"}}, ranking.SamePlayer},
		"maybe a robot": {[]command.Person{alice}, []command.Person{{Username: "scorebot"}}, ranking.NotAPerson},
	} {
		if refusal, ok := g.odds(t, &alice, tc.a, tc.b).(ranking.Refusal); !ok || refusal.Code != tc.want {
			t.Errorf("%s: %+v", what, refusal)
		}
	}
	teamsOf := func(players ...command.Person) (key string) {
		o := g.origin(&alice)
		g.question(t, about(o, players...), stats.TeamsQuestion{Players: players, K: 1})
		return o.Key
	}
	if teams := g.notice(t, teamsOf(alice, bob, dave, eve)).(stats.Teams); teams.Split != 0b0011 ||
		teams.Of != 3 || teams.Expected != 50 {
		t.Errorf("the teams are %+v", teams)
	}
	teamsOf(alice, bob, dave, eve, zoe)
	g.has(t, before, "players")
	g.has(t, 1, `outbox WHERE payload->>'code' = 'odd_players'`)
}

// TestTeamsToCard checks that a button below proposed teams replaces them with the next split.
// Another button starts a wizard for a match of these teams. The person who presses that button
// reports the match.
func TestTeamsToCard(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	g.record(t, &carol, carol, zoe, 3, 1)
	g.record(t, &carol, carol, zoe, 3, 1)
	players := []command.Person{alice, {Username: "bob"}, carol, zoe} // 1516, 1484, 1531, 1469
	for k, want := range []ladder.Split{0b0011, 0b1001, 0b0101} {
		o := g.origin(&bob)
		o.Button = o.Key
		g.question(t, about(below(77, o), players...), stats.TeamsQuestion{Players: players, K: k + 1})
		if n := g.answer(t, o.Key, page).(stats.Teams); n.Split != want || n.Number != k+1 || n.Of != 3 {
			t.Errorf("number %d is %+v", k+1, n)
		}
	}
	o := g.origin(&zoe)
	o.Button, o.ReplyTo = o.Key, 77
	must(t, g.Do(t.Context(), about(o, players...), ranking.StartTeamWizard{Split: 0b0011}))
	names := func(a, b string) []ranking.Name { return []ranking.Name{{Name: a}, {Name: b}} }
	checkNotice(t, g.answer(t, o.Key, "action = 'send'"), ranking.ScorePrompt{
		// The sender's team comes first.
		Scores: [][2]int{{3, 0}, {3, 1}, {3, 2}, {2, 3}, {1, 3}, {0, 3}, {0, -1}, {-1, 0}, {-1, -1}},
		Teams:  [2][]ranking.Name{names("Carol", "Zoe"), names("Alice", "Bob")},
	})
	checkNotice(t, g.answer(t, o.Key, toast), ranking.Acknowledged{})
	for _, unknown := range []ranking.PromptOption{ranking.Choice(0), ranking.OpponentPage(1), against(1, 3, 1)} {
		checkNotice(t, g.answer(t, g.pressWizard(t, &zoe, unknown), toast), ranking.Refusal{Code: ranking.UnknownButton})
	}
	checkNotice(t, g.answer(t, g.pressWizard(t, &alice, against(0, 3, 0)), toast),
		ranking.Refusal{Code: ranking.NotYourPrompt})
	key := g.pressWizard(t, &zoe, against(0, 8, 10))
	if n, ok := g.answer(t, key, page).(ranking.ReportChosen); !ok || len(n.Results) != 1 {
		t.Errorf("the wizard ends with %+v", n)
	}
	got := texts(t, g, `
		SELECT concat_ws(' ', m.number, m.idempotency_key = $1, p.display_name, m.score_a, m.score_b,
			string_agg(mp.side || q.display_name, ' ' ORDER BY mp.place))
		FROM matches m JOIN players p ON p.id = m.reported_by JOIN match_players mp ON mp.match_id = m.id
		JOIN players q ON q.id = mp.player_id
		WHERE m.number = 4 GROUP BY m.id, p.id`, o.Key)
	equal(t, "the match", []string{"4 t Zoe 8 10 1Carol 1Zoe 2Alice 2Bob"}, got)
	g.has(t, 4, "players")
}
