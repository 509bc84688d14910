package ranking

import (
	"slices"

	"elobot/internal/elo"
)

// Score is what the two sides of a match, or of one set of it, have made, each from 0 to 999.
type Score struct{ A, B int }

// Result is how a match ended. When it was played in sets, the score counts the sets that each side has won.
type Result struct {
	Score
	Sets []Score // the points of each set; none, or at least two
}

// resultOf returns the result that is reported as these scores: one score is the result, several are those of sets. A
// set that nobody has won counts for neither side.
func resultOf(scores []Score) Result {
	if len(scores) == 1 {
		return Result{Score: scores[0]}
	}
	r := Result{Sets: scores}
	for _, set := range scores {
		switch {
		case set.A > set.B:
			r.A++
		case set.A < set.B:
			r.B++
		}
	}
	return r
}

func (r Result) equal(o Result) bool { return r.Score == o.Score && slices.Equal(r.Sets, o.Sets) }

// swapped returns the result as seen from the other side.
func (r Result) swapped() Result {
	s := Result{Score: Score{r.B, r.A}}
	for _, set := range r.Sets {
		s.Sets = append(s.Sets, Score{set.B, set.A})
	}
	return s
}

// of returns how a side, 1 or 2, has done.
func (s Score) of(side int) elo.Score {
	if side == 1 {
		return elo.ScoreOf(s.A, s.B)
	}
	return elo.ScoreOf(s.B, s.A)
}

// setScores returns the sets as notices tell them.
func (r Result) setScores() []SetScore {
	var sets []SetScore
	for _, s := range r.Sets {
		sets = append(sets, SetScore{s.A, s.B})
	}
	return sets
}
