package ranking_test

import (
	"testing"

	"elobot/internal/command"
	"elobot/internal/ladder"
)

// TestHalves checks that a drawn game in a series gives each side half a point, stored exactly. The
// margin of victory is the difference in points. Fixes and replays keep the halves.
func TestHalves(t *testing.T) {
	t.Parallel()
	const half = ladder.Half
	drawn := ladder.Score{A: half, B: half}
	g := newGame(t)
	series := func(a, b command.Person, scores ...ladder.Score) {
		t.Helper()
		must(t, g.RecordMatch(t.Context(), g.origin(&a),
			command.Match{A: []command.Person{a}, B: []command.Person{b}, Scores: scores}))
	}
	series(alice, carol, ladder.Score{A: 1}, ladder.Score{B: 1}, drawn)
	g.exec(t, `UPDATE ladders SET margin_of_victory = true`)
	series(alice, bob, ladder.Score{A: 1}, ladder.Score{A: 1}, drawn)
	series(carol, zoe, ladder.Score{A: half + 2, B: half})
	series(bob, zoe, ladder.Score{A: 1}, drawn, drawn)
	stored := func() []string {
		t.Helper()
		return texts(t, g, `SELECT concat_ws(' ', score_a, score_b, sets) FROM matches ORDER BY number`)
	}
	want := []string{
		"1001 1001 {{1,0},{0,1},{1000,1000}}", "1002 1000 {{1,0},{1,0},{1000,1000}}", "1002 1000", "2 1 {{1,0},{1000,1000},{1000,1000}}",
	}
	equal(t, "stored", want, stored())
	// K is 32, and the factor for a difference of two is 1.5.
	for number, gain := range map[int]int{2: 24, 3: 24} {
		card := g.cards(t, number)[0]
		if p := card.Sides[0].Players[0]; p.After-p.Before != gain {
			t.Errorf("match %d: %+v, want a gain of %d", number, p, gain)
		}
	}
	if drawn := g.cards(t, 1)[0]; drawn.Sides[0].Score != half+1 || drawn.Sides[1].Score != half+1 {
		t.Errorf("the card of a draw: %+v", drawn)
	}
	g.fix(t, &carol, matchNumber(3), ladder.Score{B: 1}, drawn)
	if got := stored()[2]; got != "1000 1001 {{0,1},{1000,1000}}" {
		t.Errorf("after a fix: %s", got)
	}
	g.verifyClean(t)
}

// TestValidHalves checks that in a valid score, either both sides have a half point or neither
// does.
func TestValidHalves(t *testing.T) {
	t.Parallel()
	const half = ladder.Half
	for s, want := range map[ladder.Score]bool{
		{A: half, B: half}: true, {A: half + 999, B: half}: true, {A: half + 2, B: 1}: false, {A: half}: false, {A: 2 * half, B: half}: false,
		{A: half + 1, B: ladder.NoPoints}: false, {A: 999}: true,
	} {
		if s.IsValid() != want {
			t.Errorf("%d:%d is valid: %v", s.A, s.B, !want)
		}
	}
}
