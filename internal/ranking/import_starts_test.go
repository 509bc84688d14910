package ranking_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"elobot/internal/command"
	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/plainladder"
	"elobot/internal/ranking"
	"elobot/internal/transfer"
)

// TestStartRatings checks which start ratings an import sets, which it refuses and which are known
// already, that a second import of the file changes nothing, and that undoes of imports, in any
// order, leave the start ratings of the others.
func TestStartRatings(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.begin(t)
	g.record(t, &alice, alice, carol, 3, 1)
	must(t, g.Do(t.Context(), g.origin(&alice), ranking.UndoMatch{Amendment: matchNumber(1)}))
	dave := command.Person{ID: 80, Username: "dave", Name: "Dave"}
	g.record(t, &alice, alice, dave, 3, 1)
	empty := g.state(t)
	text := "player;rating\nBob;1700\nCarol;1400\nAnn;1650\nDave;1300\nEve;1500\nALICE;1500\nZed;0\nBobby;10000\n"
	people := func(f *ranking.ImportFile) {
		f.People = map[string]string{
			"Ann": "guest", "Eve": "@eve", "Zed": "leave out", "Bobby": "@bob", "Carol": "@carol",
		}
	}
	skip := func(f *ranking.ImportFile) { people(f); f.SkipRefused = true }
	contents := g.written(t)
	if r := g.importing(t, text); len(r.Unknown) != 8 || r.Unknown[2].Who != transfer.Guest || r.Unknown[2].Matches != 0 {
		t.Errorf("before somebody has decided who they are: %+v", r)
	}
	r := g.importing(t, text, people)
	equal(t, "refused", []transfer.Fault{
		{Line: 5, Reason: transfer.HasPlayed, Value: "Dave"}, {Line: 9, Reason: transfer.SamePerson, Value: "Bobby"},
	}, r.Refused)
	isKnown := slices.Equal(r.Known, []int{7}) && slices.Equal(r.Away, []int{8})
	if r.Number != 0 || !r.AreStarts || r.Starts != 4 || r.Players != 2 || !isKnown {
		t.Errorf("the report is %+v", r)
	}
	g.importing(t, text, skip, func(f *ranking.ImportFile) { f.DryRun = true })
	g.importing(t, text, skip, func(f *ranking.ImportFile) { f.Again = []int{2} })
	equal(t, "contents after refusals and a dry run", contents, g.written(t))

	if r = g.importing(t, text, skip); r.Number != 1 || r.Starts != 4 {
		t.Errorf("imported: %+v", r)
	}
	starts := func() []string {
		return dbValues(t, g, `
			SELECT concat_ws(' ', name, start_elo, elo, best_elo, played) FROM group_players ORDER BY name`)
	}
	played := []string{"Alice 1500 1516 1516 1", "Dave 1500 1484 1500 1"}
	equal(t, "standings", []string{
		played[0], "Ann 1650 1650 1650 0", "Bob 1700 1700 1700 0", "Carol 1400 1400 1400 0", played[1],
		"eve 1500 1500 1500 0",
	}, starts())
	g.verifyClean(t)
	contents = g.written(t)
	if r := g.importing(t, text, skip); r.Number != 0 || r.Starts != 0 || !slices.Equal(r.Known, []int{2, 3, 4, 6, 7}) {
		t.Errorf("imported again: %+v", r)
	}
	equal(t, "contents after the second import", contents, g.written(t))

	undo := func(number, starts int) {
		t.Helper()
		u, err := ranking.UndoImport(t.Context(), g.store, club.ID, number)
		must(t, err)
		equal(t, fmt.Sprintf("start ratings of import %d", number), starts, len(u.Starts))
		g.verifyClean(t)
	}
	again := "player;rating\nBob;1800\nAnn;1650\nFred;1200\n"
	withFred := func(f *ranking.ImportFile) { people(f); f.People["Fred"] = "guest" }
	if r := g.importing(t, again, withFred); r.Number != 2 || r.Starts != 2 {
		t.Errorf("another file: %+v", r)
	}
	undo(1, 4)
	equal(t, "standings without the first import", []string{
		played[0], "Bob 1800 1800 1800 0", "Carol 1500 1500 1500 0", played[1], "Fred 1200 1200 1200 0",
	}, starts())
	g.importing(t, "player;rating\nBob;1900\n")
	g.record(t, &alice, alice, bob, 3, 1)
	undo(3, 1)
	equal(t, "the rating after a match, without the third import", []string{"Bob 1800 1773 1800 1"}, starts()[1:2])
	must(t, g.Do(t.Context(), g.origin(&alice), ranking.UndoMatch{Amendment: matchNumber(3)}))
	undo(2, 2)
	equal(t, "state without imports", empty, slices.DeleteFunc(g.state(t), func(line string) bool {
		return strings.HasPrefix(line, "match 3 ")
	}))
}

// TestStartRatingsProperty checks that the ratings after an import of start ratings and some
// matches equal an independent calculation, and that an import that is taken back leaves the state
// as if the group had only played.
func TestStartRatingsProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		starts := rapid.MapOf(rapid.SampledFrom([]string{"Alice", "Bob", "Ann", "Bea"}),
			rapid.SampledFrom([]int{0, 900, 1500, 1987, 10_000})).Draw(r, "starts")
		text := "player,rating\n"
		for _, name := range slices.Sorted(maps.Keys(starts)) {
			text += fmt.Sprintf("%s,%d\n", name, starts[name])
		}
		plays := rapid.SliceOfN(rapid.IntRange(0, 5), 1, 12).Draw(r, "plays")
		results := "date,a,b,score\n2020-01-01,Ann,Bob,3:1\n2020-01-02,Bea,Ann,1:1\n"
		var states [][]string
		for _, isImported := range []bool{false, true} {
			t.Run("", func(t *testing.T) {
				g := newGameOn(pgtest.Borrow(t))
				g.begin(t)
				if isImported && len(starts) > 0 {
					g.importing(t, text, guests("Ann", "Bea"))
				}
				var want []plainladder.Match
				for i, n := range plays {
					g.record(t, &alice, alice, bob, n%3, n/3)
					want = append(want, plainladder.Match{
						Number: i + 1, A: []string{"Alice"}, B: []string{"Bob"}, ScoreA: n % 3, ScoreB: n / 3,
					})
				}
				if isImported {
					for name, s := range plainladder.Play(starts, want).Standings {
						equal(t, name, []string{fmt.Sprint(s.Elo, s.Best)}, dbValues(t, g,
							`SELECT elo || ' ' || best_elo FROM group_players WHERE name = '`+name+`'`))
					}
					g.verifyClean(t)
				}
				g.importing(t, results, guests("Ann", "Bea"), func(f *ranking.ImportFile) { f.ClosedSeasons = true })
				if isImported && g.count(t, "start_ratings") > 0 {
					_, err := ranking.UndoImport(t.Context(), g.store, club.ID, 1)
					must(t, err)
				}
				g.verifyClean(t)
				states = append(states, withoutKeys(g.state(t)))
			})
		}
		if !slices.Equal(states[0], states[1]) {
			r.Fatalf("the state after the undo is\n%s\nwant\n%s", strings.Join(states[1], "\n"), strings.Join(states[0], "\n"))
		}
	})
}
