package command

import "fmt"

// Certain returns the only match of the only reading of a report. It fails with a *FormError if there are several.
func Certain(readings []Reading) (Match, error) {
	m := readings[0][0]
	switch {
	case len(readings[0]) > 1:
		return Match{}, formError(ReasonSeveralResults, "")
	case len(readings) == 1:
		return m, nil
	}
	for _, r := range readings {
		if len(r[0].Scores) != len(m.Scores) {
			return Match{}, unclearTotal(r[0].Scores, m.Scores)
		}
	}
	return Match{}, formError(ReasonUnclearWinner, "")
}

// unclearTotal returns the error for scores of which one is missing in others.
func unclearTotal(a, b []Score) error {
	if len(a) < len(b) {
		a, b = b, a
	}
	total := a[0]
	if total == b[0] {
		total = a[len(a)-1]
	}
	return formError(ReasonUnclearTotal, fmt.Sprintf("%d:%d", total.A, total.B))
}

// likely returns the readings of a match: what its words say about the winner has to fit the score, and one of several scores
// may be their total.
func (r report) likely(m Match) ([]Reading, error) {
	claim, err := r.claim()
	if err != nil {
		return nil, err
	}
	var all []Reading
	for _, scores := range withoutTotal(m.Scores) {
		m.Scores = scores
		a, b := points(scores)
		isDraw := a == b
		switch {
		case claim == unknown:
			all = append(all, Reading{m})
		case isDraw != (claim == drew):
			return nil, formError(ReasonContradiction, "")
		case isDraw, (a > b) == (claim == won) && !r.isOfUnclearSide():
			all = append(all, Reading{m})
		default:
			all = append(all, Reading{m.mirrored()}, Reading{m})
		}
	}
	return all, nil
}

// claim returns what the words of a report say about the first side, unknown if they say nothing.
func (r report) claim() (meaning, error) {
	claim := unknown
	for _, m := range r.claims {
		if claim != unknown && claim != m.meaning {
			return unknown, formError(ReasonContradiction, "")
		}
		claim = m.meaning
	}
	return claim, nil
}

// isOfUnclearSide reports whether a claim directly follows the only person, as in "@bob won 3:1": it may be about that person or
// about the sender.
func (r report) isOfUnclearSide() bool {
	for _, m := range r.claims {
		if len(r.people) == 1 && len(r.versus) == 0 && !r.names && m.at == 1 && m.numbers == 0 {
			return true
		}
	}
	return false
}

// mirrored returns the match with the scores of the sides exchanged.
func (m Match) mirrored() Match {
	scores := make([]Score, len(m.Scores))
	for i, s := range m.Scores {
		scores[i] = Score{A: s.B, B: s.A}
	}
	m.Scores = scores
	return m
}

// points returns the score of a match: the only score, or how many sets each side won.
func points(scores []Score) (a, b int) {
	if len(scores) == 1 {
		return scores[0].A, scores[0].B
	}
	for _, s := range scores {
		switch {
		case s.A > s.B:
			a++
		case s.A < s.B:
			b++
		}
	}
	return a, b
}

// withoutTotal returns what several scores can mean. If the first or the last one is the total of the others, it is left out. If
// it could be their total, but does not equal the sets that were won, there are two possibilities, without it and with it.
func withoutTotal(scores []Score) [][]Score {
	if len(scores) < 3 {
		return [][]Score{scores}
	}
	doubtful := [][]Score{scores}
	for _, at := range [...]int{0, len(scores) - 1} {
		total := scores[at]
		sets := scores[1:]
		if at > 0 {
			sets = scores[:at]
		}
		if !isTotal(total, sets) {
			continue
		}
		if a, b := points(sets); total == (Score{A: a, B: b}) {
			return [][]Score{sets}
		}
		doubtful = append([][]Score{sets}, doubtful...)
	}
	return doubtful
}

// isTotal reports whether a score can be the total of sets: it is no larger than their count, and no set could be such a total.
func isTotal(total Score, sets []Score) bool {
	count := len(sets)
	if total.A > count || total.B > count {
		return false
	}
	for _, s := range sets {
		if max(s.A, s.B) <= count {
			return false
		}
	}
	return true
}
