// Package elo calculates Elo ratings. It knows nothing about players, ladders or storage.
//
// The formulas come from Arpad Elo, "The Rating of Chessplayers, Past and Present" (1978), with the logistic curve and
// the divisor of 400 that FIDE uses:
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

// Score is the outcome of a match from one side's point of view.
type Score float64

// The three scores of a match.
const (
	Loss Score = 0
	Draw Score = 0.5
	Win  Score = 1
)

// ScoreOf returns the score of a side that made own points (or goals, or games) against other.
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

// Change returns how the rating of each member of side a changes when a scores s against side b. The ratings of b's
// members change by the opposite. A side is rated at the average of its members. k must be positive, and neither side
// may be empty.
//
// The change is limited so that every rating stays between Min and Max. With sides of equal size, the sum of all
// ratings therefore stays the same.
func Change(k int, a, b []int, s Score) int {
	// Calculate from the side that gains, so that "a beat b" and "b lost to a" are rounded alike.
	if s == Loss || s == Draw && average(a) > average(b) {
		return -gain(k, b, a, Win-s)
	}
	return gain(k, a, b, s)
}

// gain returns how many points each gainer wins and each loser loses when the gainers score s. The result is not
// negative if the gainers score at least as expected.
func gain(k int, gainers, losers []int, s Score) int {
	points := int(math.Round(float64(k) * (float64(s) - Expected(average(gainers), average(losers)))))
	for _, r := range gainers {
		points = min(points, Max-r)
	}
	for _, r := range losers {
		points = min(points, r-Min)
	}
	return points
}

func average(ratings []int) float64 {
	sum := 0
	for _, r := range ratings {
		sum += r
	}
	return float64(sum) / float64(len(ratings))
}
