package ranking_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/command"
	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// TestPlainNames checks that a plain name means the player who has it, and adds no player. People
// who are only shown by the message are not added either.
func TestPlainNames(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	ghost, dave := command.Person{Username: "ghost"}, command.Person{Username: "dave"}
	g.record(t, &alice, alice, bob, 3, 1)
	g.record(t, &alice, alice, ghost, 3, 1)
	report := func(o ranking.Origin, score int) {
		t.Helper()
		o = saying(o, "match", fmt.Sprintf("me and Bob vs @ and ghost %d:0", score), dave)
		o.VisibleUsers = []command.Person{zoe, {Username: "erin"}}
		must(t, g.Do(t.Context(), o, ranking.ReadReport{}))
	}
	o := g.origin(&carol)
	report(o, 3)
	got := texts(t, g, `SELECT concat_ws(' ', p.display_name, s.played, s.elo) FROM group_players s
		JOIN players p ON p.id = s.player_id ORDER BY s.id`)
	equal(t, "the ladder", []string{"Alice 2 1531", "Bob 2 1500", "ghost 2 1469", "Carol 1 1516", "dave 1 1484"},
		got)
	g.has(t, 5, "players")

	edit := g.origin(&carol)
	edit.Message = o.Key
	report(edit, 2)
	g.has(t, 1, "outbox WHERE kind = 'fix_offer' AND payload->>'number' = '3'")
	g.has(t, 5, "players")
}

// TestNamelessAreNamed checks that the number that messages show for an account without a name
// means that account in a report and in a question. The first account has the number 1.
func TestNamelessAreNamed(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	first, second := command.Person{ID: 1301, Name: ranking.Nameless}, command.Person{ID: 1302, Name: ranking.Nameless}
	g.record(t, &bob, bob, second, 1, 3)
	g.record(t, &bob, bob, first, 1, 3)
	must(t, g.Do(t.Context(), saying(g.origin(&bob), "match", "Player 2 1:3"), ranking.ReadReport{}))
	o := g.origin(&bob)
	g.question(t, saying(o, "stats", "игрок 1"), stats.Typed{Form: stats.PersonCommand{}})
	if n := standingIn(t, g.notice(t, o.Key)); n.Won != 1 || !n.Other {
		t.Errorf("the standing of Player 1 is %+v", n)
	}
	equal(t, "the matches played", []string{"1301 2", "1302 1"}, texts(t, g, `
		SELECT concat_ws(' ', p.telegram_user_id, s.played) FROM group_players s JOIN players p ON p.id = s.player_id
		WHERE p.display_name = '…' ORDER BY 1`))
}

// TestNothingMeant checks that a report or a question with an unknown name adds no player, not even
// its sender. A question about a player does not add its sender either.
func TestNothingMeant(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	result, question, about := g.origin(&zoe), g.origin(&zoe), g.origin(&zoe)
	must(t, g.Do(t.Context(), saying(result, "match", "Xyz 3:1"), ranking.ReadReport{}))
	person := stats.Typed{Form: stats.PersonCommand{}}
	g.question(t, saying(question, "stats", "Bobi"), person)
	g.question(t, saying(about, "stats", "Bob"), person)
	if n, ok := g.notice(t, result.Key).(ranking.ReportPrompt); !ok || len(n.Options) != 1 || !n.Options[0].Guest {
		t.Errorf("the report is answered with %+v", n)
	}
	checkNotice(t, g.notice(t, question.Key),
		stats.WhoMeant{Doubt: command.DoubtUnknownName, Word: "Bobi", People: []ranking.Name{{Name: "Bob"}}})
	if n := standingIn(t, g.notice(t, about.Key)); n.Elo != 1484 || !n.Other {
		t.Errorf("the standing is %+v", n)
	}
	g.has(t, 2, "players")
	g.has(t, 1, "handled_commands WHERE rate_class = 'result' AND outcome = 'asked'")
}

// TestNamedTeams checks that a /teams with plain names is answered with teams. A button below the
// teams starts a wizard that asks the person who presses the button for the score.
func TestNamedTeams(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	g.record(t, &carol, carol, zoe, 3, 1)
	press := func() ranking.Origin {
		o := saying(g.origin(&command.Person{ID: 1200, Name: "Eve"}), "teams", "@ Bob Carol Zoe", alice)
		o.Button, o.Said.Sender = o.Key, command.Person{} // written by an anonymous admin
		return o
	}
	o := press()
	g.question(t, below(77, o), stats.Typed{Form: stats.TeamsCommand{K: 1}})
	if n, ok := g.answer(t, o.Key, page).(stats.Teams); !ok || n.Of != 3 || n.Sides[0][0].Elo != 1516 {
		t.Errorf("the teams are %+v", n)
	}
	o = press()
	must(t, g.Do(t.Context(), o, ranking.StartTeamWizard{Split: 0b0011}))
	prompt, ok := g.answer(t, o.Key, "action = 'send'").(ranking.ScorePrompt)
	if want := [2][]ranking.Name{{{Name: "Alice"}, {Name: "Bob"}}, {{Name: "Carol"}, {Name: "Zoe"}}}; !ok ||
		!cmp.Equal(prompt.Teams, want) {
		t.Errorf("the question is %+v", prompt)
	}
	g.has(t, 4, "players")
}

// TestRoundTripsOfNames checks that a result with a plain name takes two round trips, and a
// question with a plain name takes three.
func TestRoundTripsOfNames(t *testing.T) {
	t.Parallel()
	d := pgtest.Borrow(t)
	p := dbtest.NewProxy(t, d.URL)
	g := newGameOn(d)
	g.pool = dbtest.Open(t, p.URL, func(c *pgxpool.Config) {
		c.MaxConns = 1
		// By default, the pool pings connections that were idle for a second.
		c.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false }
	})
	g.store = newStore(g.pool)
	g.Service = newAskingService(g)
	g.record(t, &alice, alice, bob, 3, 1)
	score := 3
	for what, tc := range map[string]struct {
		run  func(o ranking.Origin) error
		want int64
	}{
		"a result": {func(o ranking.Origin) error {
			score++ // a repeated score would lead to a question
			return g.Do(t.Context(), saying(o, "match", fmt.Sprintf("Bob %d:1", score)), ranking.ReadReport{})
		}, 2},
		"a question": {func(o ranking.Origin) error {
			return g.Do(t.Context(), saying(o, "history", "Bob"),
				ranking.Ask{Question: stats.Typed{Form: stats.HistoryCommand{}}})
		}, 3},
	} {
		for range 3 {
			must(t, tc.run(g.origin(&alice))) // prepares the statements
		}
		before := p.Syncs.Load()
		must(t, tc.run(g.origin(&alice)))
		if got := p.Syncs.Load() - before; got != tc.want {
			t.Errorf("%s takes %d round trips, want %d", what, got, tc.want)
		}
	}
	g.has(t, 5, "matches")
}
