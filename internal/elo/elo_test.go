package elo_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"elobot/internal/elo"
	"elobot/internal/rapidtest"
)

func TestMain(m *testing.M) {
	rapidtest.Same(100)
	m.Run()
}

func TestExpected(t *testing.T) {
	t.Parallel()
	// The first three values are calculated by hand from the formula. The others come from the
	// table of the World Football Elo Ratings (https://eloratings.net/about), which gives three
	// digits.
	for _, tc := range []struct {
		a, b, want, within float64
	}{
		{1500, 1500, 0.5, 0},
		{1900, 1500, 10.0 / 11, 1e-12},
		{1500, 1900, 1.0 / 11, 1e-12},
		{1600, 1500, 0.640, 0.0005},
		{1700, 1500, 0.760, 0.0005},
		{1800, 1500, 0.849, 0.0005},
	} {
		if got := elo.Expected(tc.a, tc.b); math.Abs(got-tc.want) > tc.within {
			t.Errorf("Expected(%v, %v) = %v, want %v", tc.a, tc.b, got, tc.want)
		}
	}
}

func TestChange(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		k    float64
		a, b []int
		s    elo.Score
		want int
	}{
		{"equals", 32, []int{1500}, []int{1500}, elo.Win, 16},
		{"equals, lost", 32, []int{1500}, []int{1500}, elo.Loss, -16},
		{"equals, drawn", 32, []int{1500}, []int{1500}, elo.Draw, 0},
		{"the favorite wins", 32, []int{1900}, []int{1500}, elo.Win, 3},
		{"the favorite loses", 32, []int{1900}, []int{1500}, elo.Loss, -29},
		{"the favorite wins by far", 32, []int{2300}, []int{1500}, elo.Win, 1},
		{"the favorite wins by farther", 10, []int{9000}, []int{1500}, elo.Win, 1},
		{"the outsider loses", 32, []int{1500}, []int{2300}, elo.Loss, -1},
		{"nobody has more to lose", 32, []int{elo.Max - 1}, []int{elo.Min}, elo.Win, 0},
		{"nobody has more to gain", 32, []int{elo.Max}, []int{elo.Min + 1}, elo.Win, 0},
		{"an expected draw moves nothing", 32, []int{1500}, []int{1501}, elo.Draw, 0},
		{"the favorite draws", 32, []int{1900}, []int{1500}, elo.Draw, -13},
		{"the outsider draws", 32, []int{1500}, []int{1900}, elo.Draw, 13},
		{"a smaller K", 10, []int{1500}, []int{1500}, elo.Win, 5},
		{"a K with a margin factor", 32 * 1.75, []int{1500}, []int{1500}, elo.Win, 28},
		{"a fractional K", 31 * 1.5, []int{1500}, []int{1500}, elo.Loss, -23},
		{"half a point is rounded away from zero", 1, []int{1500}, []int{1500}, elo.Win, 1},
		{"sides with the same average", 32, []int{1400, 1600}, []int{1500, 1500}, elo.Win, 16},
		{"limited by the loser's rating", 32, []int{5}, []int{5}, elo.Win, 5},
		{"limited by the winner's distance from the maximum", 32, []int{elo.Max - 1}, []int{elo.Max - 1}, elo.Win, 1},
		{"limited by the lowest rating of a side", 32, []int{20, 20}, []int{2, 38}, elo.Win, 2},
	} {
		if got := elo.Change(tc.k, tc.a, tc.b, tc.s); got != tc.want {
			t.Errorf("%s: Change(%v, %v, %v, %v) = %d, want %d", tc.name, tc.k, tc.a, tc.b, tc.s, got, tc.want)
		}
	}
}

// TestChangeProperties checks that the change of the other side is the opposite, and the winner
// never loses points. A decided match moves at least one point if there is room. A larger K neither
// reduces the change nor reverses its sign, and no change exceeds K rounded. Ratings stay in range.
// If sides of equal size share one K, all changes add up to zero.
func TestChangeProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		side := rapid.SliceOfN(rapid.IntRange(elo.Min, elo.Max), 1, 4)
		a, b := side.Draw(t, "a"), side.Draw(t, "b")
		s := rapid.SampledFrom([]elo.Score{elo.Loss, elo.Draw, elo.Win}).Draw(t, "s")
		margin := elo.MarginFactor(rapid.IntRange(0, 9).Draw(t, "difference"), 0)
		anyK := rapid.Custom(func(t *rapid.T) float64 { return float64(rapid.IntRange(1, 1000).Draw(t, "k")) * margin })
		k := anyK.Draw(t, "K")
		change := elo.Change(k, a, b, s)

		if mirrored := elo.Change(k, b, a, 1-s); mirrored != -change {
			t.Fatalf("change seen from the other side is %d, want %d", mirrored, -change)
		}
		if s == elo.Win && change < 0 || s == elo.Loss && change > 0 {
			t.Fatalf("score %v changes the rating by %d", s, change)
		}
		room := elo.Max
		for _, r := range winners(a, b, s) {
			room = min(room, elo.Max-r)
		}
		for _, r := range winners(b, a, s) {
			room = min(room, r-elo.Min)
		}
		if s != elo.Draw && change == 0 && room > 0 {
			t.Fatalf("score %v moves nothing, where %d points could be", s, room)
		}
		if float64(max(change, -change)) > math.Round(k) {
			t.Fatalf("change is %d with K-factor %v", change, k)
		}
		if more := elo.Change(k+1, a, b, s); max(more, -more) < max(change, -change) || more*change < 0 {
			t.Fatalf("change is %d, with a larger K-factor %d", change, more)
		}
		sum := 0
		for _, members := range []struct {
			ratings, others []int
			score           elo.Score
		}{{a, b, s}, {b, a, 1 - s}} {
			for _, r := range members.ratings {
				if now := r + elo.Change(anyK.Draw(t, "K of a member"),
					members.ratings, members.others, members.score); now < elo.Min || now > elo.Max {
					t.Fatalf("rating %d is out of range", now)
				}
				sum += elo.Change(k, members.ratings, members.others, members.score)
			}
		}
		if len(a) == len(b) && sum != 0 {
			t.Fatalf("with the same K-factor, the sum of all ratings changes by %d", sum)
		}
	})
}

// winners returns the winning side when a scores s against b. With the two sides exchanged, it
// returns the losing side. After a draw, the result is meaningless.
func winners(a, b []int, s elo.Score) []int {
	if s == elo.Win {
		return a
	}
	return b
}

func TestMarginFactor(t *testing.T) {
	t.Parallel()
	// The values of https://eloratings.net/about up to the limit of 2: half more for a difference
	// of two, three quarters more for three, and an eighth more for each further goal.
	want := []float64{1, 1, 1.5, 1.75, 1.875, 2, 2, 2}
	for difference, factor := range want {
		for _, least := range []int{0, 3} {
			a, b := least+difference, least
			if got, mirrored := elo.MarginFactor(a, b), elo.MarginFactor(b, a); got != factor || mirrored != factor {
				t.Errorf("the factors for %d:%d and %d:%d are %v and %v, want %v", a, b, b, a, got, mirrored, factor)
			}
		}
	}
	if got := elo.MarginFactor(999, 0); got != elo.MaxMarginFactor {
		t.Errorf("the factor for 999:0 is %v", got)
	}
}

func TestScoreOf(t *testing.T) {
	t.Parallel()
	if elo.ScoreOf(3, 1) != elo.Win || elo.ScoreOf(1, 3) != elo.Loss || elo.ScoreOf(2, 2) != elo.Draw {
		t.Error("want a win for 3:1, a loss for 1:3 and a draw for 2:2")
	}
}
