// Package elo calculates Elo ratings. It knows nothing about players, ladders or storage.
//
// The formulas come from Arpad Elo, "The Rating of Chessplayers, Past and Present" (1978), with the
// logistic curve and the divisor of 400 of US Chess
// (http://www.glicko.net/ratings/rating.system.pdf) and of the World Football Elo Ratings
// (https://eloratings.net/about). FIDE instead uses a table of the normal curve with two decimals,
// which differs by up to 0.018 (https://handbook.fide.com/chapter/B022024, 8.1.2):
//
//	expected score   E = 1 / (1 + 10^((Rb−Ra)/400))
//	change           round(K·G·(S−E)), but at least 1 up or down if the match was decided
//
// K is the K-factor, S the [Score], and G is 1, or [MarginFactor] if the margin of victory counts.
// No change takes a rating out of the range from [Min] to [Max]. The minimum of one point is
// elobot's own rule. Without it, a favorite would gain nothing from a win against a far weaker
// player, and the underdog would risk nothing.
package elo

import "math"

// The range of a rating.
const (
	Min = 0
	Max = 10_000
)

// Score is the outcome of a match from one side's point of view.
type Score float64

// The three outcomes.
const (
	Loss Score = 0
	Draw Score = 0.5
	Win  Score = 1
)

// ScoreOf returns the outcome for a side that has own points, goals or sets against other.
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

// ExpectedOf returns the expected score, between 0 and 1, of side a against side b. The rating of a
// side is the average of its members' ratings. Neither side may be empty.
func ExpectedOf(a, b []int) float64 { return Expected(average(a), average(b)) }

// MaxMarginFactor is the largest factor that MarginFactor returns, reached at a difference of five.
const MaxMarginFactor = 2

// MarginFactor returns the factor G, from 1 to MaxMarginFactor, by which the margin of victory
// multiplies K. a and b are the two sides' points, goals or sets. G is the goal difference index of
// the World Football Elo Ratings (https://eloratings.net/about), limited to MaxMarginFactor:
//
//	difference   0 or 1   2     3      4       5 or more
//	G            1        1.5   1.75   1.875   2
//
// Without the limit, G would be (11+N)/8 for a difference N of 3 or more.
func MarginFactor(a, b int) float64 {
	switch difference := max(a-b, b-a); difference {
	case 0, 1:
		return 1
	case 2:
		return 1.5
	default:
		return min(float64(11+difference)/8, MaxMarginFactor)
	}
}

// Change returns the rating change of one member of side a when a scores s against side b. k is the
// K-factor of that member, times G if the margin of victory counts; it must be positive. Neither
// side may be empty. The rating of a side is the average of its members' ratings.
//
// For the same k, the change of a member of b is the opposite of the change of a member of a. After
// a win or a loss, the change is at least one point up or down, unless the range of ratings leaves
// no room. The change is limited to what each member of the gaining side can still gain and each
// member of the losing side can still lose, so all ratings stay between Min and Max. If all members
// have the same K and the sides are of equal size, the sum of their ratings stays the same.
func Change(k float64, a, b []int, s Score) int {
	// Calculate from the side that gains, so that "a beat b" and "b lost to a" are rounded in the
	// same way.
	if s == Loss || s == Draw && average(a) > average(b) {
		return -gain(k, b, a, Win-s)
	}
	return gain(k, a, b, s)
}

// gain returns the points that a member with the factor k wins if the member is one of the gainers,
// or loses if the member is one of the losers, when the gainers score s. The result is not negative
// if the gainers score at least as much as expected.
func gain(k float64, gainers, losers []int, s Score) int {
	points := int(math.Round(k * (float64(s) - ExpectedOf(gainers, losers))))
	if s == Win {
		points = max(points, 1)
	}
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
