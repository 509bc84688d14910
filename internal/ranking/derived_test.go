package ranking_test

import (
	"testing"

	"elobot/internal/ladder"
	"elobot/internal/ranking"
)

// TestUpsetIsDerivedAgain checks that an amendment recalculates the upset of each match that it
// replays, from the new ratings before that match. An undone match has no upset.
func TestUpsetIsDerivedAgain(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	must(t, g.Do(t.Context(), g.origin(&alice), ranking.Join{}))
	rules := defaultRules
	rules.Start = 1600
	g.setRules(t, rules)
	check := func(when string, want ...int) {
		t.Helper()
		got := rows1[int](t, g, `SELECT coalesce(upset, 0) FROM matches ORDER BY number`)
		equal(t, when+", the upsets are", want, got)
	}
	fix := func(n, a, b int) {
		t.Helper()
		must(t, g.Do(asAdmin(t), g.origin(&alice),
			ranking.FixMatch{Amendment: matchNumber(n), Scores: []ladder.Score{{A: a, B: b}}}))
	}
	g.record(t, &alice, bob, alice, 3, 0)   // 1600 beats 1500
	g.record(t, &alice, alice, carol, 3, 0) // 1488 beats 1600
	check("recorded", 0, 112)
	g.undo(t, &alice, matchNumber(2))
	check("undone", 0, 0)
	must(t, g.Do(asAdmin(t), g.origin(&alice), ranking.RestoreMatch{Amendment: matchNumber(2)}))
	check("restored", 0, 112)
	fix(2, 0, 3)
	check("with another winner", 0, 0)
	fix(2, 0, 3) // the card names the winner first
	check("with the winner again", 0, 112)
	fix(1, 0, 3)
	check("after another earlier result", 100, 0)
	g.undo(t, &alice, matchNumber(1))
	check("after an earlier undo", 0, 100)
	fix(2, 2, 2)
	check("a draw", 0, 0)
}

// TestLongestStreakIsReplayed checks that a replay from the middle of a ladder starts with the
// longest streak that each player had before the first replayed match.
func TestLongestStreakIsReplayed(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	check := func(when string, want int) {
		t.Helper()
		got := rows1[int](t, g, `SELECT longest_streak FROM group_players WHERE name = 'Alice'`)[0]
		if got != want {
			t.Errorf("%s, the longest streak is %d, want %d", when, got, want)
		}
	}
	for _, score := range [][2]int{{1, 0}, {1, 0}, {0, 1}, {1, 0}, {1, 0}, {1, 0}, {1, 1}, {1, 0}} {
		g.record(t, &alice, alice, bob, score[0], score[1])
	}
	check("recorded", 3)
	g.undo(t, &alice, matchNumber(5))
	check("without a win of the longest", 2)
	g.undo(t, &alice, matchNumber(4))
	check("without another one", 2)
	g.undo(t, &alice, matchNumber(3))
	check("without the defeat", 3)
}
