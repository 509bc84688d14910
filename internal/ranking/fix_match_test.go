package ranking_test

import (
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/ranking"
)

func TestFixMatch(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1) // Alice 1516, Bob 1484
	g.record(t, &carol, bob, carol, 3, 0) // Bob 1501, Carol 1483
	byBob := ranking.Reporter{Name: &ranking.Name{Name: "Bob"}}
	checkNotice(t, g.fix(t, &bob, matchNumber(1), ladder.Score{A: 1, B: 3}), ranking.MatchFixed{
		Number: 1, Sides: [2]ranking.Side{side(3, "Bob", 1500, 1516), side(1, "Alice", 1500, 1484)},
		Was: ranking.OldScore{Score: [2]int{1, 3}}, By: byBob,
		Moved: ranking.Moved{Ratings: []ranking.RatingChange{
			change("Alice", 1516, 1484), change("Bob", 1501, 1531), change("Carol", 1483, 1485),
		}},
	})
	card := ranking.MatchRecorded{
		Number: 1, Sides: [2]ranking.Side{side(3, "Bob", 1500, 1516), side(1, "Alice", 1500, 1484)},
		Was: &ranking.OldScore{Score: [2]int{1, 3}}, Changes: 1,
	}
	equal(t, "the card", []ranking.MatchRecorded{card}, g.cards(t, 1), cmpopts.EquateEmpty(), untagged)
	// The card shows the winner first, and the score of the next fix is in that order.
	checkNotice(t, g.fix(t, &alice, matchNumber(1), ladder.Score{A: 3, B: 1}),
		ranking.Refusal{Code: ranking.SameScore, Number: 1})
	// By default, another score for the same winner changes no rating.
	checkNotice(t, g.fix(t, &bob, matchNumber(1), ladder.Score{A: 3, B: 2}), ranking.MatchFixed{
		Number: 1, Sides: [2]ranking.Side{side(3, "Bob", 1500, 1516), side(2, "Alice", 1500, 1484)},
		Was: ranking.OldScore{Score: [2]int{3, 1}}, By: byBob,
		Moved: ranking.Moved{Ratings: []ranking.RatingChange{change("Alice", 1484, 1484), change("Bob", 1531, 1531)}},
	})
	checkNotice(t, g.fix(t, &bob, matchNumber(1), ladder.Score{A: 3, B: 2}),
		ranking.Refusal{Code: ranking.SameScore, Number: 1})
	type fixed struct{ OldA, OldB, NewA, NewB int }
	want := []fixed{{3, 1, 1, 3}, {1, 3, 2, 3}}
	got := rows[fixed](t, g, `SELECT old_score_a, old_score_b, new_score_a, new_score_b FROM match_fixes ORDER BY id`)
	equal(t, "fixes", want, got)
}

// TestFixWithoutScore checks that a fix without a score leads to a FixPrompt, which shows the match
// in the order of the card. The match stays unchanged.
func TestFixWithoutScore(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, bob, alice, 1, 3)
	sides := [2]ranking.Side{
		{Score: 3, Players: []ranking.RatingChange{{Name: ranking.Name{Name: "Alice"}}}},
		{Score: 1, Players: []ranking.RatingChange{{Name: ranking.Name{Name: "Bob"}}}},
	}
	asked := ranking.FixPrompt{Number: 1, Tag: ranking.TagOf("m:1"), Sides: sides}
	for _, meant := range []ranking.Amendment{{}, matchNumber(1), {Match: ranking.MatchRef{Message: 5, Key: "m:1"}}} {
		checkNotice(t, g.fix(t, &bob, meant), asked)
	}
	checkNotice(t, g.fix(t, &carol, matchNumber(1)), ranking.Refusal{Code: ranking.NotYours, Number: 1})
	checkNotice(t, g.fix(t, &carol, matchNumber(2)), ranking.Refusal{Code: ranking.NoSuchMatch, Number: 2})
	g.hasMatches(t, "m:1 Bob Alice 1:3")
}

// TestFixThatChangesTheWinner checks that the bot asks before a fix that makes the loser the
// winner, unless Sure is set. The button works as long as the match is unchanged.
func TestFixThatChangesTheWinner(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		by    *command.Person
		match ranking.MatchRef
		score ladder.Score
		sure  bool
		asks  bool
	}{
		"by number":     {&alice, ranking.MatchRef{Number: 1}, ladder.Score{A: 1, B: 3}, false, true},
		"by its report": {&alice, ranking.MatchRef{Message: 5, Key: "m:1"}, ladder.Score{A: 3, B: 1}, false, true},
		"the last one":  {&bob, ranking.MatchRef{}, ladder.Score{A: 1, B: 3}, false, true},
		"surely":        {&bob, ranking.MatchRef{}, ladder.Score{A: 1, B: 3}, true, false},
		"to a draw":     {&bob, ranking.MatchRef{}, ladder.Score{A: 3, B: 3}, false, false},
		"by one point":  {&bob, ranking.MatchRef{}, ladder.Score{A: 2, B: 1}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newAskingGame(t)
			g.record(t, &alice, alice, bob, 1, 3)
			o := g.origin(tc.by)
			fix := ranking.FixMatch{
				Amendment: ranking.Amendment{Match: tc.match}, Scores: []ladder.Score{tc.score}, Sure: tc.sure,
			}
			must(t, g.Do(t.Context(), o, fix))
			offer, asked := g.notice(t, o.Key).(ranking.WinnerOffer)
			if asked != tc.asks {
				t.Fatalf("offered: %+v", g.notice(t, o.Key))
			}
			if !asked {
				g.has(t, 1, "match_fixes")
				return
			}
			g.has(t, 0, "match_fixes")
			if offer.Number != 1 || offer.Sides[0].Score != 3 || offer.Sides[0].Players[0].Name.Name != "Alice" ||
				offer.Tag != ranking.TagOf("m:1") {
				t.Errorf("offer %+v", offer)
			}
			card := ranking.Amendment{Match: ranking.MatchRef{Number: 1, Tag: offer.Tag}, Changes: &offer.Changes}
			accept := ranking.AcceptFix{Amendment: card, Scores: []ladder.Score{{A: 1, B: 3}}}
			press := g.press(tc.by)
			press.SentAt = o.SentAt
			must(t, g.Do(t.Context(), below(77, press), accept))
			if n, ok := g.offered(t, press).(ranking.MatchFixed); !ok || n.Sides[0].Players[0].Name.Name != "Alice" {
				t.Errorf("the button is answered with %+v", n)
			}
			again := g.press(tc.by)
			again.SentAt = o.SentAt
			must(t, g.Do(t.Context(), below(77, again), accept))
			checkNotice(t, g.offered(t, again), ranking.Refusal{Code: ranking.ChangedSince, Number: 1})
			g.verifyClean(t)
		})
	}
}

// TestFixLastMatch checks that without a number or a reply, the score of a fix has the sender's
// points first. If the sender did not play, the score is in the order of the report.
func TestFixLastMatch(t *testing.T) {
	t.Parallel()
	last := ranking.Amendment{}
	for name, tc := range map[string]struct {
		reporter, sender command.Person
		want             ladder.Score // stored score, Alice's first
	}{
		"the loser, who reported it":  {alice, alice, ladder.Score{A: 2, B: 3}},
		"the winner":                  {alice, bob, ladder.Score{A: 3, B: 2}},
		"a third person, as reported": {carol, carol, ladder.Score{A: 2, B: 3}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGame(t)
			g.record(t, &tc.reporter, alice, bob, 1, 3)
			g.fix(t, &tc.sender, last, ladder.Score{A: 2, B: 3})
			got := rows[ladder.Score](t, g, `SELECT score_a, score_b FROM matches`)
			equal(t, "score", []ladder.Score{tc.want}, got)
		})
	}
}

func TestFixSets(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	o := g.origin(&alice)
	sets := []ladder.Score{{A: 11, B: 7}, {A: 9, B: 11}, {A: 5, B: 11}}
	report := command.Match{A: []command.Person{alice}, B: []command.Person{bob}, Scores: sets}
	must(t, g.RecordMatch(t.Context(), o, report))
	checkNotice(t, g.notice(t, o.Key), ranking.MatchRecorded{
		Number: 1, Sides: [2]ranking.Side{side(2, "Bob", 1500, 1516), side(1, "Alice", 1500, 1484)},
		Sets:       []ranking.SetScore{{7, 11}, {11, 9}, {11, 5}},
		NewPlayers: []ranking.Name{{Name: "Alice"}, {Name: "Bob"}},
	})
	byBob := ranking.Reporter{Name: &ranking.Name{Name: "Bob"}}
	checkNotice(t, g.fix(t, &bob, matchNumber(1), ladder.Score{A: 7, B: 11}, ladder.Score{A: 12, B: 14}),
		ranking.MatchFixed{
			Number: 1, Sides: [2]ranking.Side{side(2, "Alice", 1500, 1516), side(0, "Bob", 1500, 1484)},
			Sets: []ranking.SetScore{{11, 7}, {14, 12}}, By: byBob,
			Was:   ranking.OldScore{Score: [2]int{1, 2}, Sets: []ranking.SetScore{{11, 7}, {9, 11}, {5, 11}}},
			Moved: ranking.Moved{Ratings: []ranking.RatingChange{change("Alice", 1484, 1516), change("Bob", 1516, 1484)}},
		})
	// Only the points of one set differ.
	if _, ok := g.fix(t, &bob, matchNumber(1),
		ladder.Score{A: 11, B: 8}, ladder.Score{A: 14, B: 12}).(ranking.MatchFixed); !ok {
		t.Error("a fix of points alone was refused")
	}
}

func TestFixToADraw(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	g.exec(t, `UPDATE ladders SET draws_allowed = false`)
	checkNotice(t, g.fix(t, &alice, matchNumber(1), ladder.Score{A: 2, B: 2}), ranking.Refusal{Code: ranking.NoDraws})
	g.exec(t, `UPDATE ladders SET draws_allowed = true`)
	if _, ok := g.fix(t, &alice, matchNumber(1), ladder.Score{A: 2, B: 2}).(ranking.MatchFixed); !ok {
		t.Error("a draw was refused")
	}
	// A draw keeps the order of the card.
	for _, fix := range []struct {
		score ladder.Score
		first string
	}{{ladder.Score{A: 1, B: 2}, "Bob"}, {ladder.Score{A: 3, B: 3}, "Bob"}, {ladder.Score{A: 0, B: 1}, "Alice"}} {
		if n, ok := g.fix(t, &alice, matchNumber(1), fix.score).(ranking.MatchFixed); !ok ||
			n.Sides[0].Players[0].Name.Name != fix.first {
			t.Errorf("after the fix to %v, the notice is %+v", fix.score, n)
		}
	}
}

func TestTeams(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1) // Alice 1516, Bob 1484
	doubles := func(a, b []command.Person) ranking.Notice {
		o := g.origin(&alice)
		must(t, g.RecordMatch(t.Context(), o, command.Match{A: a, B: b, Scores: []ladder.Score{{A: 10, B: 8}}}))
		return g.notice(t, o.Key)
	}
	pair := func(a, b command.Person) []command.Person { return []command.Person{a, b} }
	checkNotice(t, doubles(pair(alice, zoe), pair(bob, carol)), ranking.MatchRecorded{
		Number: 2, NewPlayers: []ranking.Name{{Name: "Zoe"}, {Name: "Carol"}},
		Sides: [2]ranking.Side{ // 1508 to 1492: expected 0.523, 32 · 0.477 = 15
			{Score: 10, Players: []ranking.RatingChange{change("Alice", 1516, 1531), change("Zoe", 1500, 1515)}},
			{Score: 8, Players: []ranking.RatingChange{change("Bob", 1484, 1469), change("Carol", 1500, 1485)}},
		},
	})
	checkNotice(t, doubles(pair(alice, zoe), []command.Person{bob}), ranking.Refusal{Code: ranking.UnevenTeams})
	checkNotice(t, doubles(pair(alice, bob), pair(carol, command.Person{Username: "BOB"})),
		ranking.Refusal{Code: ranking.SamePlayer})
	g.exec(t, `UPDATE ladders SET uneven_teams_allowed = true`)
	if n, ok := doubles(pair(alice, zoe), []command.Person{bob}).(ranking.MatchRecorded); !ok || n.Number != 3 {
		t.Errorf("notice is %+v", n)
	}
}
