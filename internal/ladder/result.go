package ladder

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"elobot/internal/elo"
)

// NoPoints stands for the points of a side in a Score without points. The loser has NoPoints and
// the winner 0. After a draw, both sides have NoPoints.
const NoPoints = -1

// Half is added to the points of both sides in a Score with half points. A drawn game gives half a
// point to each side, so either both sides have a half or neither does. Because of that, the points
// of both sides can be compared and subtracted as usual. For example, 2½:½ after two wins and a
// draw is {Half+2, Half}. The database, buttons and notices use the same form.
const Half = 1000

// Score is the score of a match or of a set: 0 to 999 points for each side, with Half added to both
// sides or to neither. A score without points is Win, Loss or Draw.
type Score struct {
	A int `json:"a"`
	B int `json:"b"`
}

// The scores without points, from the point of view of side A.
var (
	Win  = Score{0, NoPoints}
	Loss = Score{NoPoints, 0}
	Draw = Score{NoPoints, NoPoints}
)

// DrawnGame is the score of a drawn game in a series.
var DrawnGame = Score{Half, Half}

// HasPoints reports whether the score has points, rather than only an outcome.
func (s Score) HasPoints() bool { return min(s.A, s.B) != NoPoints }

// IsValid reports whether s can be the score of a match.
func (s Score) IsValid() bool {
	return min(s.A, s.B) >= 0 && max(s.A, s.B) < 2*Half && s.A/Half == s.B/Half || s == Win || s == Loss || s == Draw
}

// Most returns the points of the side with more points, without a half point.
func (s Score) Most() int { return max(s.A, s.B) % Half }

// IsGame reports whether the score can be the score of a single game in a series: 1:0, 0:1 or ½:½.
func (s Score) IsGame() bool { return s == DrawnGame || s.A+s.B == 1 }

// String returns a score with points, or Draw, in the form used in commands.
func (s Score) String() string {
	if s == Draw {
		return "="
	}
	return typedPoints(s.A) + ":" + typedPoints(s.B)
}

func typedPoints(n int) string {
	if n < Half {
		return strconv.Itoa(n)
	}
	return strings.TrimPrefix(strconv.Itoa(n-Half), "0") + "½"
}

// Result is the result of a match. In a match played in sets, the Score counts the sets won by each
// side.
type Result struct {
	Score
	Sets []Score // the points of each set; none, or at least two
	// Games are the games of a match that ended early, as typed, such as "3:2". They do not affect
	// the Score.
	Games string
}

// ResultOf returns the result for reported scores. A single score is the score of the match.
// Several scores are the scores of its sets: each set counts for its winner. A drawn set counts for
// neither side, but a drawn game, ½:½, counts half a point for each side.
func ResultOf(scores []Score) Result {
	if len(scores) == 1 {
		return Result{Score: scores[0]}
	}
	r, drawn := Result{Sets: scores}, 0
	for _, set := range scores {
		switch {
		case set == DrawnGame:
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

// Equal reports whether two results have the same score and sets. Games may differ.
func (r Result) Equal(o Result) bool { return r.Score == o.Score && slices.Equal(r.Sets, o.Sets) }

// IsSame reports whether two results may be from the same match. If only one of them has points,
// they must have the same winner, or both be draws. Otherwise, their scores must be equal, and so
// must their sets if both have some.
func (r Result) IsSame(o Result) bool {
	haveSets := len(r.Sets) > 0 && len(o.Sets) > 0
	return r.HasPoints() != o.HasPoints() && cmp.Compare(r.A, r.B) == cmp.Compare(o.A, o.B) ||
		r.Score == o.Score && (!haveSets || slices.Equal(r.Sets, o.Sets))
}

// Swapped returns the result with the sides exchanged.
func (r Result) Swapped() Result {
	s := Result{Score: r.From(2), Games: r.Games}
	for _, set := range r.Sets {
		s.Sets = append(s.Sets, set.From(2))
	}
	return s
}

// From returns the score with the points of the given side, 1 or 2, as A.
func (s Score) From(side int) Score {
	if side == 2 {
		return Score{s.B, s.A}
	}
	return s
}

// of returns the outcome for the given side, 1 or 2.
func (s Score) of(side int) elo.Score {
	own := s.From(side)
	return elo.ScoreOf(own.A, own.B)
}
