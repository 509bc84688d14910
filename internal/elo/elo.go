// Package elo is the mathematics of Elo ratings, and nothing else: no players, no rules of a club, no storage.
//
// The formulas are those of Arpad Elo, "The Rating of Chessplayers, Past and Present" (1978), with the logistic
// curve and the divisor of 400 that FIDE uses:
//
//	expected score   E = 1 / (1 + 10^((Rb−Ra)/400))
//	change           round(K·(S−E))
package elo

import "math"

// The range of a rating.
const (
	Min = 0
	Max = 10_000
)

// Score is what a side has scored, from that side's point of view.
type Score float64

// The three scores of a match.
const (
	Loss Score = 0
	Draw Score = 0.5
	Win  Score = 1
)

// ScoreOf returns the score of a side that has made own points, or goals, or games, to the other's.
func ScoreOf(own, other int) Score {
	switch {
	case own > other:
		return Win
	case own < other:
		return Loss
	default:
		return Draw
	}
}

// Expected returns the expected score, between 0 and 1, of a side rated a against a side rated b.
func Expected(a, b float64) float64 {
	return 1 / (1 + math.Pow(10, (b-a)/400))
}

// Change returns what each member of side a gains (or, negative, loses) when a scores s against side b; each member
// of b gets the opposite. The rating of a side is the average of its members. The K-factor is positive, and neither
// side is empty.
//
// The change is cut to what every member can give and take, so that no rating leaves Min to Max and, with even sides,
// the sum of all ratings stays what it was.
func Change(k int, a, b []int, s Score) int {
	// Always reckoned from the side that gains, so that rounding cannot make a difference between "a beat b" and
	// "b lost to a".
	if s == Loss || s == Draw && average(a) > average(b) {
		return -gain(k, b, a, Win-s)
	}
	return gain(k, a, b, s)
}

// gain returns what each of the takers, who score s, gets from each of the givers. It is never negative, as long as
// the takers do at least as well as expected.
func gain(k int, takers, givers []int, s Score) int {
	g := int(math.Round(float64(k) * (float64(s) - Expected(average(takers), average(givers)))))
	for _, r := range takers {
		g = min(g, Max-r)
	}
	for _, r := range givers {
		g = min(g, r-Min)
	}
	return g
}

func average(ratings []int) float64 {
	sum := 0
	for _, r := range ratings {
		sum += r
	}
	return float64(sum) / float64(len(ratings))
}
