package ranking

import (
	"cmp"
	"slices"

	"elobot/internal/command"
	"elobot/internal/elo"
)

// NoPoints stands in a Score for the points of a side where nobody counted any. The winner then has 0, and after a draw both have NoPoints.
const NoPoints = -1

// Half stands in the points of both sides of a Score for half a point more: 2½:½ is {Half+2, Half}.
// The database, buttons and notices have it so too.
const Half = command.Half

// Score is the score of a match or of one set, from 0 to 999 for each side, with Half added to both
// or to none. That of a match may be a Win, a Loss or a Draw of side A without points.
type Score struct {
	A int `json:"a"`
	B int `json:"b"`
}

// The scores without points.
var (
	Win  = Score{0, NoPoints}
	Loss = Score{NoPoints, 0}
	Draw = Score{NoPoints, NoPoints}
)

// HasPoints is true if the score is more than who has won.
func (s Score) HasPoints() bool { return min(s.A, s.B) != NoPoints }

// IsValid is true if a match can have the score.
func (s Score) IsValid() bool {
	return min(s.A, s.B) >= 0 && max(s.A, s.B) < 2*Half && s.A/Half == s.B/Half || s == Win || s == Loss || s == Draw
}

// String returns the score as commands have it.
func (s Score) String() string { return command.Score(s).String() }

// isSame is true if two scores may be of the same match: a score without points is that of everybody with the same winner.
func (s Score) isSame(o Score) bool {
	return s == o || s.HasPoints() != o.HasPoints() && cmp.Compare(s.A, s.B) == cmp.Compare(o.A, o.B)
}

// Result is the result of a match. In a match played in sets, the score counts the sets that each side won.
type Result struct {
	Score
	Sets  []Score // the points of each set; none, or at least two
	Games string  // the games of a match that ended early, as typed; they matter only without a score
}

// resultOf returns the result for reported scores. A single score is the score of the match; several are the scores of its sets. A drawn
// set counts for neither side, but a drawn game, ½:½, is half a point for each.
func resultOf(scores []Score) Result {
	if len(scores) == 1 {
		return Result{Score: scores[0]}
	}
	r, drawn := Result{Sets: scores}, 0
	for _, set := range scores {
		switch {
		case set == Score{Half, Half}:
			drawn++
		case set.A > set.B:
			r.A++
		case set.A < set.B:
			r.B++
		}
	}
	shared := drawn/2 + drawn%2*Half
	r.A, r.B = r.A+shared, r.B+shared
	return r
}

func (r Result) equal(o Result) bool { return r.Score == o.Score && slices.Equal(r.Sets, o.Sets) }

// swapped returns the result with the sides exchanged.
func (r Result) swapped() Result {
	s := Result{Score: Score{r.B, r.A}, Games: r.Games}
	for _, set := range r.Sets {
		s.Sets = append(s.Sets, Score{set.B, set.A})
	}
	return s
}

// of returns the outcome for a side, 1 or 2.
func (s Score) of(side int) elo.Score {
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
