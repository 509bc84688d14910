package command_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"elobot/internal/command"
)

// lineupOf writes the sides of a match as "alice+1 vs bobby carol", the winner first.
func lineupOf(m command.Match) string {
	sides := []string{}
	for i, people := range [][]command.Person{m.A, m.B} {
		var names []string
		for _, p := range people {
			names = append(names, strings.ToLower(p.Name+p.Username))
		}
		side := strings.Join(names, " ")
		if m.StandIns[i] > 0 {
			side += fmt.Sprint("+", m.StandIns[i])
		}
		sides = append(sides, side)
	}
	if m.Scores[0].A < m.Scores[0].B {
		slices.Reverse(sides)
	}
	return strings.Join(sides, " vs ")
}

// TestStandIns checks that the word for a guest fills a place in a team, in all languages, and is
// not read as a name. Each side needs a player, and a match can have two stand-ins.
func TestStandIns(t *testing.T) {
	t.Parallel()
	players := []command.Person{
		{ID: 1, Name: "Alice", Player: 1}, {ID: 2, Name: "Bobby", Player: 2}, {ID: 3, Name: "Carol", Player: 3},
		{ID: 4, Name: "Dave", Player: 4},
	}
	with := func(name string) []command.Person {
		return append(slices.Clone(players), command.Person{ID: 5, Name: name, Player: 5})
	}
	const ok = "alice+1 vs bobby carol"
	for _, tc := range []struct {
		said   string
		people []command.Person
		want   string // the lineups of all readings, or the reason of the error
	}{
		{"alice guest vs bobby carol 3:1", players, ok},
		{"Guest alice vs bobby carol 3:1", players, ok},
		{"alice + guest vs bobby + carol 3:1", players, ok},
		{"alice + guest bobby + carol 3:1", players, ok},
		{"alice and a guest beat bobby and carol 3:1", players, "alice+1 vs bobby carol | bobby carol vs alice+1"},
		{"alice Gast gegen bobby carol 3:1", players, ok},
		{"alice und Gast haben gegen bobby und carol 3:1 gewonnen", players, ok},
		{"alice y un invitado contra bobby y carol 3:1", players, ok},
		{"alice y la invitada ganaron a bobby y carol 3:1", players, ok},
		{"alice e convidado contra bobby e carol 3:1", players, ok},
		{"alice e convidada contra bobby e carol 3:1", players, ok},
		{"alice гость против bobby carol 3:1", players, ok},
		{"alice с гостем против bobby и carol 3:1", players, ok},
		{"alice и гостья обыграли bobby и carol 3:1", players, ok},
		{"alice і гість проти bobby і carol 3:1", players, ok},
		{"alice з гостею обіграли bobby і carol 3:1", players, ok},
		{"bobby и carol обыграли гостью и alice 3:1", players, "bobby carol vs alice+1"},
		{"гостью и alice обыграли bobby и carol 3:1", players, "bobby carol vs alice+1"},
		{"alice и гостя против bobby и carol 3:1", players, ok},
		// In Ukrainian, "гостя" is a subject, in Russian an object.
		{"гостя и alice обыграли bobby и carol 3:1", players, "alice+1 vs bobby carol | bobby carol vs alice+1"},
		{"with guest vs bobby carol 3:1", players, "sam+1 vs bobby carol"},
		{"me guest vs bobby carol 3:1", players, "sam+1 vs bobby carol"},
		{"alice guest 3:1 bobby carol", players, ok},
		{"alice guest vs bobby guest 3:1", players, "alice+1 vs bobby+1"},
		{"alice guest guest vs bobby carol 3:1", players, "alice+2 vs bobby carol"},
		{"alice guest vs bobby 3:1", players, "alice+1 vs bobby"},
		{"alice guest vs bobby guest guest 3:1", players, "too_many_stand_ins"},
		{"guest 3:1", players, "nameless_guest"},
		{"carol guest 3:1", players, "nameless_guest"},
		{"alice bobby vs guest guest 3:1", players, "nameless_guest"},
		{"alice guest bobby carol 3:1", players, "no_versus"},
		{"alice guest vs bobby carol 3:1\ndave guest vs bobby carol 1:3", players, ok + " ; bobby carol vs dave+1"},
		// A quoted word is a name.
		{`alice "guest" vs bobby carol 3:1`, players, "unknown_name"},
		{`alice "Guest" vs bobby carol 3:1`, with("Guest"), "alice guest vs bobby carol"},
		// If a player has the word as a name, a report with two readings is in doubt.
		{"alice guest vs bobby carol 3:1", with("Guest"), ok + " | alice guest vs bobby carol"},
		{"alice guest vs bobby carol 3:1", with("Guest Smith"), ok + " | alice guest smith vs bobby carol"},
		{"alice Gast vs bobby carol 3:1", with("Guest"), ok},
		{"alice гостя vs bobby carol 3:1", with("Гость"), ok + " | alice гость vs bobby carol | bobby carol vs alice гость"},
		{"carol guest 3:1", with("Guest"), "carol vs guest"},
	} {
		report, err := command.ParseMatchOf(command.Command{
			Name: "match", Written: "match", Args: tc.said, Sender: command.Person{ID: 9, Name: "Sam"},
		}, tc.people)
		var readings []string
		for _, r := range report.Readings {
			var matches []string
			for _, m := range r {
				matches = append(matches, lineupOf(m))
			}
			readings = append(readings, strings.Join(matches, " ; "))
		}
		got := strings.Join(readings, " | ")
		if form := (*command.FormError)(nil); errors.As(err, &form) {
			got = string(form.Reason)
		}
		if isAsked := strings.Contains(tc.want, " | "); got != tc.want || isAsked != (report.Doubt != command.DoubtNone) {
			t.Errorf("%q: %s (doubt %q), want %s", tc.said, got, report.Doubt, tc.want)
		}
	}
}

// TestQuestionAboutStandIn checks that the word for a guest is a name in a question.
func TestQuestionAboutStandIn(t *testing.T) {
	t.Parallel()
	guest := command.Person{ID: 5, Name: "Guest", Player: 5}
	question := command.Command{Name: "stats", Args: "guest"}
	people, err := command.ParsePeople(question, command.NewNames([]command.Person{guest}))
	equal(t, people, []command.Person{guest}, "people")
	equal(t, err, nil, "error")
	_, err = command.ParsePeople(question, nil)
	if unknown := (*command.NameError)(nil); !errors.As(err, &unknown) || unknown.Word != "guest" {
		t.Errorf("without such a player: %v", err)
	}
	question.Args = "guest guest guest guest"
	_, err = command.ParsePlayers(question, nil)
	if form := (*command.FormError)(nil); !errors.As(err, &form) || form.Detail != "guest" {
		t.Errorf("teams with a guest: %v", err)
	}
}
