package ranking

import (
	"cmp"
	"slices"

	"elobot/internal/command"
	"elobot/internal/elo"
)

// Score is the score of a match or of one set.
type Score = command.Score

// What stands in a Score for the points of a side where nobody counted any, and in those of both
// for half a point more.
const NoPoints, Half = command.NoPoints, command.Half

// The scores without points, of side A.
var Win, Loss, Draw = command.Win, command.Loss, command.Draw

// Result is the result of a match. In a match played in sets, the score counts the sets that each side won.
type Result struct {
	Score
	Sets  []Score // the points of each set; none, or at least two
	Games string  // the games of a match that ended early, as typed; they matter only without a score
}

// resultOf returns the result for reported scores. A single score is the score of the match;
// several are the scores of its sets.
func resultOf(scores []Score) Result {
	r := Result{Score: command.Total(scores)}
	if len(scores) > 1 {
		r.Sets = scores
	}
	return r
}

func (r Result) equal(o Result) bool { return r.Score == o.Score && slices.Equal(r.Sets, o.Sets) }

// isSame reports whether two results may be of the same match: one without points is that of
// everybody with the same winner, and sets matter only if both have some.
func (r Result) isSame(o Result) bool {
	haveSets := len(r.Sets) > 0 && len(o.Sets) > 0
	return r.HasPoints() != o.HasPoints() && cmp.Compare(r.A, r.B) == cmp.Compare(o.A, o.B) ||
		r.Score == o.Score && (!haveSets || slices.Equal(r.Sets, o.Sets))
}

// swapped returns the result with the sides exchanged.
func (r Result) swapped() Result {
	s := Result{Score: Score{A: r.B, B: r.A}, Games: r.Games}
	for _, set := range r.Sets {
		s.Sets = append(s.Sets, Score{A: set.B, B: set.A})
	}
	return s
}

// outcomeFor returns the outcome of a score for a side, 1 or 2.
func outcomeFor(side int, s Score) elo.Score {
	if side == 1 {
		return elo.ScoreOf(s.A, s.B)
	}
	return elo.ScoreOf(s.B, s.A)
}

// named returns the result in the form that notices use, still without names.
func (r Result) named() NamedResult { return NamedResult{Score: [2]int{r.A, r.B}, Sets: r.setScores()} }

// shown returns the score in the form that notices use.
func (r Result) shown() OldScore { return OldScore{Score: [2]int{r.A, r.B}, Sets: r.setScores()} }

// setScores returns the sets in the form that notices use.
func (r Result) setScores() []SetScore {
	var sets []SetScore
	for _, s := range r.Sets {
		sets = append(sets, SetScore{s.A, s.B})
	}
	return sets
}
