package plainladder

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPlay(t *testing.T) {
	t.Parallel()
	bout := func(a, b []string, scoreA, scoreB int, rules ...Rules) Match {
		m := Match{A: a, B: b, ScoreA: scoreA, ScoreB: scoreB}
		if len(rules) > 0 {
			m.Rules = rules[0]
		}
		return m
	}
	special := Rules{K: 32, ProvisionalK: 64, ProvisionalMatches: 1, Margin: true}
	a, b, c := []string{"a"}, []string{"b"}, []string{"c"}
	ab, cd, ac, bd := []string{"a", "b"}, []string{"c", "d"}, []string{"a", "c"}, []string{"b", "d"}
	for name, test := range map[string]struct {
		matches []Match
		want    []Standing
	}{
		// a wins 16 from an equal, b wins 17 back from one rated 32 higher, then a draw of nearly equals
		"singles": {[]Match{bout(a, b, 3, 0), bout(b, a, 3, 0), bout(a, b, 1, 1)}, []Standing{
			{"a", 1499, 1500, 1516, 3, 1, 1, 1, 0, 1}, {"b", 1501, 1500, 1501, 3, 1, 1, 1, 0, 1},
		}},
		// 1516:1484, a draw of equal sides, 15 from one rated 32 lower, 18 from a side rated 47 higher
		"doubles": {[]Match{bout(ab, cd, 3, 0), bout(ac, bd, 2, 2), bout(a, c, 1, 0), bout(ab, cd, 0, 1)}, []Standing{
			{"a", 1513, 1500, 1531, 4, 2, 1, 1, -1, 1}, {"b", 1498, 1500, 1516, 3, 1, 1, 1, -1, 1},
			{"c", 1487, 1500, 1500, 4, 1, 1, 2, 1, 1}, {"d", 1502, 1500, 1502, 3, 1, 1, 1, 1, 1},
		}},
		"uneven": {[]Match{bout(a, cd, 0, 1)}, []Standing{
			{"a", 1484, 1500, 1500, 1, 0, 0, 1, -1, 0}, {"c", 1516, 1500, 1516, 1, 1, 0, 0, 1, 1}, {"d", 1516, 1500, 1516, 1, 1, 0, 0, 1, 1},
		}},
		// half of K, limited by the loser's rating
		"at the minimum": {[]Match{bout([]string{"poor"}, []string{"pauper"}, 3, 0, Rules{K: 64})}, []Standing{
			{"poor", 15, 10, 15, 1, 1, 0, 0, 1, 1}, {"pauper", 0, 5, 5, 1, 0, 0, 1, -1, 0},
		}},
		// 16 from an equal; a newcomer, rated 16 lower, wins 59 with 64·1.75 and takes 29 with 32·1.75; 3 for a draw with one rated 72
		// higher; 39 with 32·2 from the same
		"rules": {[]Match{
			bout(a, b, 5, 0), bout(c, a, 4, 1, special), bout(a, c, 2, 2, special), bout(b, c, 10, 0, special),
		}, []Standing{
			{"a", 1490, 1500, 1516, 3, 1, 1, 1, 0, 1}, {"b", 1523, 1500, 1523, 2, 1, 0, 1, 1, 1}, {"c", 1517, 1500, 1559, 3, 1, 1, 1, -1, 1},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := make(Standings)
			for _, p := range test.want {
				want[p.Who] = p
			}
			starts := make(map[string]int)
			for _, p := range test.want {
				starts[p.Who] = p.Start
			}
			got := Play(starts, test.matches).Standings
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("table (-want +got):\n%s", diff)
			}
		})
	}
}

// TestPoints compares what the first of two players gains with values calculated by hand.
func TestPoints(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ first, second, own, other, want int }{
		{1500, 1500, 1, 0, 16},  // expected 0.5
		{1500, 1500, 1, 1, 0},   //
		{1900, 1500, 1, 0, 3},   // expected 10/11: 32·1/11 = 2.9
		{1500, 1900, 1, 0, 29},  // expected 1/11: 32·10/11 = 29.1
		{1900, 1500, 0, 1, -29}, //
		{1500, 1900, 1, 1, 13},  // 32·(1/2−1/11) = 13.1
		{1900, 1500, 1, 1, -13}, //
		{1700, 1500, 1, 0, 8},   // expected 0.7597: 7.7
		{1500, 1700, 1, 0, 24},  // 24.3
		{1600, 1500, 1, 0, 12},  // expected 0.6401: 11.5
		{1516, 1484, 1, 0, 15},  // expected 0.5459: 14.5
		{1484, 1516, 1, 0, 17},  // 17.5
		{1531, 1469, 1, 0, 13},  // expected 0.5883: 13.2
		{1544, 1456, 1, 0, 12},  // expected 0.6240: 12.0
		{2300, 1500, 1, 0, 1},   // expected 0.99: 0.3, but a decided match moves a point
		{1500, 2300, 0, 1, -1},  //
	} {
		starts := map[string]int{"a": tc.first, "b": tc.second}
		l := Play(starts, []Match{{A: []string{"a"}, B: []string{"b"}, ScoreA: tc.own, ScoreB: tc.other}})
		a, b := l.Standings["a"].Elo-tc.first, l.Standings["b"].Elo-tc.second
		if a != tc.want || b != -tc.want {
			t.Errorf("%d against %d, %d:%d: %+d and %+d, want %+d", tc.first, tc.second, tc.own, tc.other, a, b, tc.want)
		}
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	s := Season{Number: 1, Over: true, PlaceMatches: 2, Upsets: map[int]int{7: 120, 3: 120, 4: 100}, Standings: []Standing{
		{Who: "a", Elo: 1500, Best: 1520, Played: 2, Won: 1, Lost: 1, Longest: 1},
		{Who: "b", Elo: 1510, Best: 1510, Played: 2, Won: 2, Longest: 2},
		{Who: "c", Elo: 1530, Best: 1530, Played: 1, Won: 1, Longest: 1},
		{Who: "d", Elo: 1500, Best: 1500},
		{Who: "e", Elo: 1510, Best: 1510, Played: 3, Drawn: 3},
	}}
	want := Table{
		Rows:   []TableRow{{"b", 1, 1510, 2, 0, 0}, {"e", 1, 1510, 0, 3, 0}, {"a", 3, 1500, 1, 0, 1}, {"c", 0, 1530, 1, 0, 0}},
		Medals: true, Played: Best{"e", 3}, Streak: Best{"b", 2}, Upset: 3, By: 120,
	}
	if diff := cmp.Diff(want, s.Table()); diff != "" {
		t.Errorf("with places (-want +got):\n%s", diff)
	}
	next := s
	next.Number, next.Over = 2, false
	all := Careers([]Season{s, next})
	for who, want := range map[string]Career{
		"b": {Who: "b", Titles: 1, Seasons: 2, Won: 4, Best: 1510, BestIn: 1},
		"e": {Who: "e", Titles: 1, Seasons: 2, Drawn: 6, Best: 1510, BestIn: 1},
		"c": {Who: "c", Seasons: 2, Won: 2, Best: 1530, BestIn: 1}, "d": {},
	} {
		if all[who] != want {
			t.Errorf("the career of %s is %+v, want %+v", who, all[who], want)
		}
	}
	next.Left = []string{"b"}
	if rows := next.Table().Rows; len(rows) != 3 || rows[0].Who != "c" || rows[1].Who != "e" {
		t.Errorf("who has left is still there: %+v", rows)
	}
	s.PlaceMatches = 3
	if rows := s.Table().Rows; len(rows) != 4 || rows[0] != (TableRow{"c", 1, 1530, 1, 0, 0}) || rows[3].Place != 4 {
		t.Errorf("the places are %+v although only one player has played enough", rows)
	}
	for elo, want := range map[int]int{1600: 1550, 1501: 1500, 1499: 1500, 1401: 1451} {
		if got := Begin(Standing{Elo: elo, Played: 1}, 1500, true); got != want {
			t.Errorf("whoever ended with %d begins with %d, want %d", elo, got, want)
		}
	}
}
