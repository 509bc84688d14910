package ranking_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// named returns the origin of a new command that may mean people by plain names.
func (g *game) named(sender *command.Person) ranking.Origin {
	o := g.origin(sender)
	o.Names = true
	return o
}

// called returns who of a group is called so.
func called(everybody []command.Person, name string) command.Person {
	return everybody[slices.IndexFunc(everybody, func(p command.Person) bool { return p.Name == name })]
}

// TestPlainNames: who is meant by name plays on with the own rating. Whom the message only shows, or mentions besides, is not added.
func TestPlainNames(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	ghost, dave := command.Person{Username: "ghost"}, command.Person{Username: "dave"}
	g.record(t, &alice, alice, bob, 3, 1)
	g.record(t, &alice, alice, ghost, 3, 1)
	report := func(o ranking.Origin, score int) {
		t.Helper()
		must(t, g.Do(t.Context(), o, ranking.ReadReport{Read: func(everybody []command.Person) ranking.Reading {
			return ranking.Reading{Reports: []command.Match{{
				A: []command.Person{carol, called(everybody, "Bob")}, B: []command.Person{dave, called(everybody, "ghost")}, Scores: []ladder.Score{{A: score}},
			}}}
		}}))
	}
	o := g.named(&carol)
	o.Mentioned, o.VisibleUsers = []command.Person{dave, {Username: "erin"}}, []command.Person{zoe}
	report(o, 3)
	got := texts(t, g, `SELECT concat_ws(' ', p.display_name, s.played, s.elo) FROM group_players s JOIN players p ON p.id = s.player_id ORDER BY s.id`)
	if diff := cmp.Diff([]string{"Alice 2 1531", "Bob 2 1500", "ghost 2 1469", "Carol 1 1516", "dave 1 1484"}, got); diff != "" {
		t.Errorf("the ladder (-want +got):\n%s", diff)
	}
	g.has(t, 5, "players")

	edit := g.named(&carol)
	edit.Message, edit.Mentioned = o.Key, o.Mentioned
	report(edit, 2)
	g.has(t, 1, "outbox WHERE kind = 'fix_offer' AND payload->>'number' = '3'")
	g.has(t, 5, "players")
}

// TestNothingMeant: a message that does not say whom it means adds nobody, not even its sender.
func TestNothingMeant(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	wrong := ranking.UndoDropped{} // like the forms of commands no Refusal
	result, question := g.named(&zoe), g.named(&zoe)
	must(t, g.Do(t.Context(), result, ranking.ReadReport{Read: func([]command.Person) ranking.Reading { return ranking.Reading{Malformed: wrong} }}))
	must(t, g.questions(g.Service).Show(t.Context(), question, stats.PersonQuery{Who: func([]command.Person) ([]command.Person, ranking.Notice) { return nil, wrong }}))
	about := g.named(&zoe)
	must(t, g.questions(g.Service).Show(t.Context(), about, stats.PersonQuery{Who: func(everybody []command.Person) ([]command.Person, ranking.Notice) {
		return []command.Person{called(everybody, "Bob")}, nil
	}}))
	checkNotice(t, g.notice(t, result.Key), wrong)
	checkNotice(t, g.notice(t, question.Key), wrong)
	if n := standingIn(t, g.notice(t, about.Key)); n.Elo != 1484 || !n.Other {
		t.Errorf("the standing is %+v", n)
	}
	g.has(t, 2, "players")
	g.has(t, 1, "handled_commands WHERE rate_class = 'result' AND outcome = 'refused'")
}

// TestNamedTeams: a /teams that means people by name is divided and reported for whoever presses its buttons.
func TestNamedTeams(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	g.record(t, &carol, carol, zoe, 3, 1)
	meant := func(o ranking.Origin) (ranking.Origin, ranking.Sides) {
		o.Names, o.Button, o.Mentioned = true, o.Key, []command.Person{alice}
		return o, func(everybody []command.Person) ([2][]command.Person, ranking.Notice) {
			return [2][]command.Person{{alice, called(everybody, "Bob")}, {called(everybody, "Carol"), called(everybody, "Zoe")}}, nil
		}
	}
	o, teams := meant(g.origin(&command.Person{ID: 1200, Name: "Eve"}))
	must(t, g.questions(g.Service).Show(t.Context(), below(77, o), stats.TeamsQuery{Players: func(everybody []command.Person) ([2][]command.Person, ranking.Notice) {
		sides, _ := teams(everybody)
		return [2][]command.Person{slices.Concat(sides[0], sides[1])}, nil
	}, K: 1}))
	if n, ok := g.answer(t, o.Key, page).(stats.Teams); !ok || n.Of != 3 || n.Sides[0][0].Elo != 1516 {
		t.Errorf("the teams are %+v", n)
	}
	o, teams = meant(g.origin(&command.Person{ID: 1200, Name: "Eve"}))
	must(t, g.Do(t.Context(), o, ranking.StartTeamWizard{Teams: teams}))
	prompt, ok := g.answer(t, o.Key, "action = 'send'").(ranking.ScorePrompt)
	if want := [2][]ranking.Name{{{Name: "Alice"}, {Name: "Bob"}}, {{Name: "Carol"}, {Name: "Zoe"}}}; !ok || !cmp.Equal(prompt.Teams, want) {
		t.Errorf("the question is %+v", prompt)
	}
	g.has(t, 4, "players")
}

// TestRoundTripsOfNames: it takes no extra round trip to find out who is meant by a plain name.
func TestRoundTripsOfNames(t *testing.T) {
	t.Parallel()
	d := pgtest.Borrow(t)
	p := dbtest.NewProxy(t, d.URL)
	g := newGameOn(d)
	g.pool = dbtest.Open(t, p.URL, func(c *pgxpool.Config) {
		c.MaxConns = 1
		c.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false } // of a connection that was idle for a second
	})
	g.store = newStore(g.pool)
	g.Service = newAskingService(g)
	g.record(t, &alice, alice, bob, 3, 1)
	bobMeant := func(everybody []command.Person) ([]command.Person, ranking.Notice) {
		return []command.Person{called(everybody, "Bob")}, nil
	}
	score := 3
	for what, tc := range map[string]struct {
		run  func(o ranking.Origin) error
		want int64
	}{
		"a result": {func(o ranking.Origin) error {
			score++ // or it would be asked about
			return g.Do(t.Context(), o, ranking.ReadReport{Read: func(everybody []command.Person) ranking.Reading {
				return ranking.Reading{Reports: []command.Match{singles(alice, called(everybody, "Bob"), score, 1)}}
			}})
		}, 2},
		"a question": {func(o ranking.Origin) error {
			return g.questions(g.Service).Show(t.Context(), o, stats.HistoryQuery{Who: bobMeant})
		}, 3},
	} {
		for range 3 {
			must(t, tc.run(g.named(&alice))) // prepares the statements
		}
		before := p.Syncs.Load()
		must(t, tc.run(g.named(&alice)))
		if got := p.Syncs.Load() - before; got != tc.want {
			t.Errorf("%s takes %d round trips, want %d", what, got, tc.want)
		}
	}
	g.has(t, 5, "matches")
}
