package main_test

import (
	"fmt"
	"math"
	"testing"
)

// oracle is a simple Elo ranking in memory that plays all matches in order. It shares no code with the bot.
type oracle struct {
	ratings map[string]int
	record  map[string][3]int // won, drawn, lost
	matches int
}

func newOracle() *oracle {
	return &oracle{ratings: make(map[string]int), record: make(map[string][3]int)}
}

// winnersGain returns what the first player gains with a score of s: 1, 0.5 or 0.
func winnersGain(first, second int, s float64) int {
	expected := 1 / (1 + math.Pow(10, float64(second-first)/400))
	return int(math.Round(32 * (s - expected)))
}

// play plays a match and returns the card that the bot must send.
func (o *oracle) play(a, b string, scoreA, scoreB int, reporter string) string {
	if scoreB > scoreA {
		a, b, scoreA, scoreB = b, a, scoreB, scoreA
	}
	for _, name := range []string{a, b} {
		if _, ok := o.ratings[name]; !ok {
			o.ratings[name] = 1500
		}
	}
	s, results := 1.0, [2]int{0, 2}
	if scoreA == scoreB {
		s, results = 0.5, [2]int{1, 1}
	}
	gain := winnersGain(o.ratings[a], o.ratings[b], s)
	o.ratings[a] += gain
	o.ratings[b] -= gain
	for i, name := range []string{a, b} {
		r := o.record[name]
		r[results[i]]++
		o.record[name] = r
	}
	o.matches++
	head := fmt.Sprintf("%s beat %s %d:%d", a, b, scoreA, scoreB)
	if scoreA == scoreB {
		head = fmt.Sprintf("%s and %s drew %d:%d", a, b, scoreA, scoreB)
	}
	card := fmt.Sprintf("%s\n%s %s → %d\n%s %s → %d\nMatch #%d",
		head, a, change(gain), o.ratings[a], b, change(-gain), o.ratings[b], o.matches)
	if reporter != a && reporter != b {
		card += " · reported by " + reporter
	}
	return card
}

func change(n int) string {
	switch {
	case n > 0:
		return fmt.Sprintf("+%d", n)
	case n < 0:
		return fmt.Sprintf("−%d", -n)
	}
	return "±0"
}

// TestOracle compares the oracle with values calculated by hand.
func TestOracle(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		first, second int
		s             float64
		want          int
	}{
		{1500, 1500, 1, 16},   // expected 0.5
		{1500, 1500, 0.5, 0},  //
		{1900, 1500, 1, 3},    // expected 10/11: 32·1/11 = 2.9
		{1500, 1900, 1, 29},   // expected 1/11: 32·10/11 = 29.1
		{1900, 1500, 0, -29},  //
		{1500, 1900, 0.5, 13}, // 32·(1/2−1/11) = 13.1
		{1900, 1500, 0.5, -13},
		{1700, 1500, 1, 8},  // expected 0.7597: 7.7
		{1500, 1700, 1, 24}, // 24.3
		{1600, 1500, 1, 12}, // expected 0.6401: 11.5
		{1516, 1484, 1, 15}, // expected 0.5459: 14.5
		{1484, 1516, 1, 17}, // 17.5
	} {
		if got := winnersGain(tc.first, tc.second, tc.s); got != tc.want {
			t.Errorf("%d against %d with %v: %+d, want %+d", tc.first, tc.second, tc.s, got, tc.want)
		}
	}
}
