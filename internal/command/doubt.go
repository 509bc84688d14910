package command

import (
	"cmp"
	"reflect"
	"slices"

	"elobot/internal/ladder"
)

// MaxReadings is the maximum number of readings of a report.
const MaxReadings = 8

// Doubt is the reason why a person must choose or confirm a reading of a report before it is
// recorded.
type Doubt string

// The doubts about a report.
const (
	DoubtNone    Doubt = ""
	DoubtResults Doubt = "results" // it may be one match or several
	DoubtTotal   Doubt = "total"   // a score may not count, for example as the total of the others
	DoubtHalf    Doubt = "half"    // "1/2" may be half a point for each, or the score 1:2
	DoubtCounts  Doubt = "counts"  // either of the last two scores may count, because of extra time
	// DoubtWinner means that it is not clear who won. The words leave it open or contradict the
	// score, or a match ended early and no word states its outcome.
	DoubtWinner Doubt = "winner"
	// DoubtName means that several players have a name, or that a name may be another word.
	DoubtName Doubt = "name"
	// DoubtUnknownName means that no player has a name. The readings use players with similar
	// names, and a new guest.
	DoubtUnknownName Doubt = "unknown_name"
	// DoubtLine means that a line cannot be read. The only reading has the matches of the other
	// lines.
	DoubtLine Doubt = "line"
)

// Certain returns the match of a report that is not in doubt and has only one match. Otherwise it
// fails with a *FormError.
func Certain(r Report) (Match, error) {
	switch {
	case r.Doubt != DoubtNone:
		return Match{}, r.form()
	case len(r.Readings[0]) > 1:
		return Match{}, formError(ReasonSeveralResults, "")
	default:
		return r.Readings[0][0], nil
	}
}

// doubtReasons maps doubts to the reasons of their errors. The other doubts have
// ReasonSeveralResults.
var doubtReasons = map[Doubt]Reason{
	DoubtTotal: ReasonUnclearTotal, DoubtWinner: ReasonUnclearWinner, DoubtName: ReasonUnclearName,
	DoubtUnknownName: ReasonUnknownName,
}

// form returns the doubt as an error.
func (r Report) form() error {
	return formError(cmp.Or(doubtReasons[r.Doubt], ReasonSeveralResults), r.Word)
}

// and returns a report with each combination of a reading of r and a reading of next, or next if r
// has no readings. It fails if there are more than MaxReadings combinations.
func (r Report) and(next Report) (Report, error) {
	if len(r.Readings) == 0 {
		return next, nil
	}
	all := Report{Doubt: r.Doubt, Word: r.Word}
	if all.Doubt == DoubtNone {
		all.Doubt, all.Word = next.Doubt, next.Word
	}
	if len(r.Readings)*len(next.Readings) > MaxReadings {
		return Report{}, all.form()
	}
	for _, first := range r.Readings {
		for _, second := range next.Readings {
			all.Readings = append(all.Readings, slices.Concat(first, second))
		}
	}
	return all, nil
}

// or adds the readings of other that r lacks, up to MaxReadings in all. It reports whether it added
// any.
func (r *Report) or(other Report) bool {
	added := false
	for _, reading := range other.Readings {
		isKnown := slices.ContainsFunc(r.Readings, func(known Reading) bool { return reflect.DeepEqual(known, reading) })
		if !isKnown && len(r.Readings) < MaxReadings {
			r.Readings, added = append(r.Readings, reading), true
		}
	}
	return added
}

// likely returns the readings of a match. claim is the outcome that its words state, or unknown.
// Each way in which possible reads the scores usually gives one reading. It gives two, as typed and
// with the numbers of each score swapped, if the words contradict a score that is not a draw, or
// leave open which side it is about. If the words state that the side with the smaller numbers won,
// as in "lost to @bob 3:1", the only reading has the numbers swapped.
func (l line) likely(m Match, claim meaning) Report {
	first := len(m.A) + m.StandIns[0]
	if m.Self {
		first = 0
	}
	subject, isClear := l.subject(first, claim)
	isFirst := (subject == 0) == (claim == won) // whether the first side won, if either did
	var all Report
	possible, doubt := l.possible(m.Scores, claim)
	for _, scores := range possible {
		m.Scores = scores
		total := ladder.ResultOf(scores).Score
		readings := []Reading{{m}}
		switch {
		case total.A == total.B && claim != drew && claim != unknown: // "won 2:2"
			all.Doubt = DoubtWinner
		case total.A == total.B:
		case claim == drew, !isClear, claim == won && total.A < total.B: // "draw 3:1", "won 1:3"
			readings, all.Doubt = append(readings, Reading{m.mirrored()}), DoubtWinner
		case claim != unknown && (total.A > total.B) != isFirst:
			readings = []Reading{{m.mirrored()}}
		}
		all.Readings = append(all.Readings, readings...)
	}
	if doubt != DoubtNone {
		all.Doubt = doubt
	}
	if doubt == DoubtTotal {
		all.Word = unclearTotal(possible[0], possible[1])
	}
	return all
}

// unclearTotal compares the scores of the readings without and with a total, and returns the first
// score that the reading without the total leaves out.
func unclearTotal(without, with []ladder.Score) string {
	at := 0
	for at < len(without) && without[at] == with[at] {
		at++
	}
	return with[at].String()
}

// outcome returns the outcome that the words of a report state for its subject, or unknown if they
// state none. It fails if they contradict each other, or if they state a winner and the only score
// is ½:½.
func (l line) outcome() (meaning, error) {
	outcome := l.said
	for _, p := range l.claims() {
		if outcome != unknown && outcome != p.meaning {
			return unknown, formError(ReasonContradiction, "")
		}
		outcome = p.meaning
	}
	isDraw := len(l.scores.numbers) == 2 && l.scores.numbers[0].text == half && l.scores.numbers[1].text == half
	if isDraw && (outcome == won || outcome == lost) {
		return unknown, formError(ReasonContradiction, "")
	}
	return outcome, nil
}

// withoutPoints maps each outcome to the score of a match that is reported without points.
var withoutPoints = map[meaning]ladder.Score{won: ladder.Win, lost: ladder.Loss, drew: ladder.Draw}

// scoresOf returns the scores of a line or, if the line has none, the outcome as a score.
func (l line) scoresOf(outcome meaning) ([]ladder.Score, error) {
	hasScore := len(l.scores.numbers) > 0 || l.scores.stray != "" || l.scores.open != ""
	if s, ok := withoutPoints[outcome]; ok && !hasScore {
		return []ladder.Score{s}, nil
	}
	return l.scores.scores()
}

// mirrored returns the match with the two numbers of each score swapped.
func (m Match) mirrored() Match {
	scores := make([]ladder.Score, len(m.Scores))
	for i, s := range m.Scores {
		scores[i] = ladder.Score{A: s.B, B: s.A}
	}
	m.Scores = scores
	return m
}

// drawn returns the scores with each "1/2" as a drawn game. isSure reports whether that is the only
// possible reading, because all other scores are games that were won, lost or drawn, or because
// there is no other score and the words state a draw.
func (l line) drawn(scores []ladder.Score, claim meaning) (drawn []ladder.Score, isSure bool) {
	drawn, others := slices.Clone(scores), len(scores)
	for i := range len(l.scores.numbers) / 2 {
		if l.scores.numbers[2*i].word == oneTwo {
			drawn[i], others = ladder.DrawnGame, others-1
		}
	}
	isOther := func(s ladder.Score) bool { return !s.IsGame() }
	return drawn, others > 0 && !slices.ContainsFunc(drawn, isOther) || len(scores) == 1 && claim == drew
}

// possible returns the ways to read the scores, and the doubt about them, if any. A first or last
// score that may be the total of the others is dropped. If it does not equal the sets that were
// won, it may also be a set, so both ways are possible. There are also ways with and without a
// score in brackets that may be a half-time or tie-break score, and with and without the only set
// after a total. A "1/2" that may be a drawn game makes two ways, and so do the last two scores of
// a match with extra time.
func (l line) possible(scores []ladder.Score, claim meaning) ([][]ladder.Score, Doubt) {
	drawn, isSure := l.drawn(scores, claim)
	last := len(scores) - 1
	switch {
	case isSure:
		scores = drawn
	case !slices.Equal(drawn, scores):
		return [][]ladder.Score{scores, drawn}, DoubtHalf
	case l.scores.hasHalf: // "3:1 ½"
		return [][]ladder.Score{scores}, DoubtResults
	case l.isLate && last > 0:
		return [][]ladder.Score{scores[last:], scores[last-1 : last]}, DoubtCounts
	}
	var sets []ladder.Score
	var total ladder.Score
	isHalves := func(s ladder.Score) bool { return s.A >= ladder.Half && s != ladder.DrawnGame }
	switch {
	case last > 0 && isHalves(scores[0]), last > 1 && isTotal(scores[0], scores[1:]):
		sets, total = scores[1:], scores[0]
	case last > 0 && isHalves(scores[last]), last > 1 && isTotal(scores[last], scores[:last]):
		sets, total = scores[:last], scores[last]
	case last == 1 && isBeforeSet(scores[0], scores[1]):
		sets = scores[:1:1]
	default:
		sets = l.withoutAsides(scores)
	}
	if len(sets) == len(scores) || total == ladder.ResultOf(sets).Score {
		return [][]ladder.Score{sets}, DoubtNone
	}
	return [][]ladder.Score{sets, scores}, DoubtTotal
}

// withoutAsides drops scores in brackets that may be half-time or tie-break scores: "5:3 (3:1)",
// "7:6 (7:4) 6:4".
func (l line) withoutAsides(scores []ladder.Score) []ladder.Score {
	var all []ladder.Score
	numbers := l.scores.numbers
	for i, s := range scores {
		if i == 0 || numbers[0].isEnclosed || !numbers[2*i].isEnclosed || !isAside(s, scores[i-1]) {
			all = append(all, s)
		}
	}
	return all
}

// isAside reports whether s, a score in brackets, may be the half-time score or the tie-break of
// another score.
func isAside(s, of ladder.Score) bool {
	return s.A <= of.A && s.B <= of.B || max(of.A, of.B) == 7 && min(of.A, of.B) == 6
}

// isBeforeSet reports whether a score may be the total of sets of which only one is given:
// "3:2, 11:9 in the fifth".
func isBeforeSet(total, set ladder.Score) bool {
	const mostSets = 4 // needed to win
	return total.A != total.B && total.Most() <= mostSets && set.Most() > mostSets
}

// isTotal reports whether a score can be the total of sets: no number in it exceeds the count of
// the sets, and each set has a number that does.
func isTotal(total ladder.Score, sets []ladder.Score) bool {
	isSmall := func(s ladder.Score) bool { return s.Most() <= len(sets) }
	return isSmall(total) && !slices.ContainsFunc(sets, isSmall)
}
