package plainladder

import "testing"

// TestPoints checks that the points that two players gain and lose in a match are those calculated
// by hand.
func TestPoints(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ first, second, own, other, want int }{
		{1500, 1500, 1, 0, 16},  // expected 0.5
		{1500, 1500, 1, 1, 0},   // 32·(1/2−1/2) = 0
		{1900, 1500, 1, 0, 3},   // expected 10/11: 32·1/11 = 2.9
		{1500, 1900, 1, 0, 29},  // expected 1/11: 32·10/11 = 29.1
		{1900, 1500, 0, 1, -29}, // expected 10/11: −32·10/11 = −29.1
		{1500, 1900, 1, 1, 13},  // 32·(1/2−1/11) = 13.1
		{1900, 1500, 1, 1, -13}, // 32·(1/2−10/11) = −13.1
		{1700, 1500, 1, 0, 8},   // expected 0.7597: 7.7
		{1500, 1700, 1, 0, 24},  // 24.3
		{1600, 1500, 1, 0, 12},  // expected 0.6401: 11.5
		{1516, 1484, 1, 0, 15},  // expected 0.5459: 14.5
		{1484, 1516, 1, 0, 17},  // 17.5
		{1531, 1469, 1, 0, 13},  // expected 0.5883: 13.2
		{1544, 1456, 1, 0, 12},  // expected 0.6240: 12.0
		{2300, 1500, 1, 0, 1},   // expected 0.99: 0.3, but a decided match moves a point
		{1500, 2300, 0, 1, -1},  // the same match with the players exchanged
	} {
		starts := map[string]int{"a": tc.first, "b": tc.second}
		l := Play(starts, []Match{{A: []string{"a"}, B: []string{"b"}, ScoreA: tc.own, ScoreB: tc.other}})
		a, b := l.Standings["a"].Elo-tc.first, l.Standings["b"].Elo-tc.second
		if a != tc.want || b != -tc.want {
			t.Errorf("%d against %d, %d:%d: %+d and %+d, want %+d", tc.first, tc.second, tc.own, tc.other, a, b, tc.want)
		}
	}
}
