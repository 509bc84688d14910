package command

import (
	"cmp"
	"slices"
	"strings"

	"elobot/internal/ladder"
)

func (p parser) readings(l line) (Report, error) {
	_, err := l.scores.scores()
	switch {
	case l.isFreeForAll(err == nil):
		return Report{}, formError(ReasonFreeForAll, "")
	case err == nil && len(l.people) > 1 && l.isSpread():
		return p.several(l)
	default:
		return p.one(l)
	}
}

// one reads a line as one match. If the line may also report several matches, it adds those
// readings.
func (p parser) one(l line) (Report, error) {
	m, err := p.players(l)
	if err != nil {
		return Report{}, err
	}
	outcome, err := l.outcome()
	if err != nil {
		return Report{}, err
	}
	if l.isEarly {
		return l.endedEarly(m, outcome)
	}
	scores, err := l.scoresOf(outcome)
	if err != nil {
		return Report{}, err
	}
	m.Scores = scores
	report := l.likely(m, outcome)
	total := ladder.ResultOf(scores).Score
	switch {
	case total.A != total.B && p.maybeEach(l):
		return report.orResults(p.againstEach), nil
	case report.Doubt == DoubtResults, report.Doubt == DoubtNone && mayBeMatches(scores):
		return report.orResults(separate), nil
	case report.Doubt == DoubtHalf && mayBeMatches(scores):
		return Report{Readings: report.orResults(separate).Readings, Doubt: DoubtHalf}, nil
	default:
		return report, nil
	}
}

// endedEarly reads a match that ended early. Only its winner affects the result, not its games. If
// the words do not state the outcome, there are two readings, one for each side as the winner.
func (l line) endedEarly(m Match, outcome meaning) (all Report, err error) {
	const longest = 250 // bytes of games
	for _, w := range l.words {
		if w.meaning == unknown && w.person == nil {
			m.Games = strings.TrimSpace(m.Games + " " + w.typed)
		}
	}
	if len(m.Games) > longest {
		return Report{}, formError(ReasonTooManySets, "")
	}
	l.scores, m.Scores = scoreText{}, []ladder.Score{withoutPoints[outcome]}
	if outcome != unknown {
		return l.likely(m, outcome), nil
	}
	m.Scores = []ladder.Score{ladder.Win}
	return Report{Readings: []Reading{{m}, {m.mirrored()}}, Doubt: DoubtWinner}, nil
}

// mayBeMatches reports whether scores look like scores of matches rather than of sets: "3:1 2:3".
func mayBeMatches(scores []ladder.Score) bool {
	const fewest, most = 2, 5 // points of the winner of a match of several sets
	isOfMatch := func(s ladder.Score) bool { return fewest <= s.Most() && s.Most() <= most }
	return len(scores) > 1 && !slices.ContainsFunc(scores, func(s ladder.Score) bool { return !isOfMatch(s) })
}

// orResults adds a reading for each reading of r, which must have one match: the matches into which
// results turns that match. It also sets the doubt to DoubtResults.
func (r Report) orResults(results func(Match) Reading) Report {
	for _, reading := range r.Readings {
		r.Readings = append(r.Readings, results(reading[0]))
	}
	r.Doubt, r.Word = DoubtResults, ""
	return r
}

// separate turns each score of a match into a match.
func separate(m Match) (each Reading) {
	for _, s := range m.Scores {
		m.Scores = []ladder.Score{s}
		each = append(each, m)
	}
	return each
}

// maybeEach reports whether the sender may have played each of two people, as in "@bob and @carol
// 3:1".
func (p parser) maybeEach(l line) bool {
	return len(l.joined) > 0 && len(l.people) == 2 && !l.hasClaim() && len(l.all(versus)) == 0 && p.senderPlays() &&
		!slices.ContainsFunc(l.people, func(other Person) bool { return other.IsSame(p.sender) })
}

// againstEach turns a match between two people into one match of the sender against each of them.
func (p parser) againstEach(m Match) (each Reading) {
	for _, opponent := range [][]Person{m.A, m.B} {
		each = append(each, Match{A: []Person{p.sender}, B: opponent, Self: true, When: m.When, Scores: m.Scores})
	}
	return each
}

// isFreeForAll reports whether the line has a number for each of at least three sides or, without a
// versus and without scores, for each of at least three people.
func (l line) isFreeForAll(hasScores bool) bool {
	count, sides := len(l.scores.numbers), len(l.all(versus))+1
	return count >= 3 && (sides == 1 && len(l.people) == count && !hasScores || sides == count)
}

// isSpread reports whether people stand between the scores.
func (l line) isSpread() bool {
	all := l.scores.numbers
	return len(all) > 2 && slices.ContainsFunc(all[2:], func(n number) bool { return n.at != all[0].at })
}

// several reads a line with people between the scores. If the first score is certainly the total of
// the others, the line is one match. Otherwise the line is clear only if the sender plays each of
// the people one on one, and nothing suggests another reading.
func (p parser) several(l line) (Report, error) {
	isOne, maybeOne := l.isTotalBetween()
	if of, err := p.one(l); isOne && err == nil {
		return of, nil
	}
	parts, hasWordBetween := l.parts()
	all, err := p.results(l, parts)
	isCertain := err == nil && l.scores.numbers[0].at > 0 && p.playsEach(all) &&
		!slices.ContainsFunc(all.Readings, Reading.hasTotal)
	if (!isCertain || hasWordBetween || maybeOne) && !l.isOfUnnamed() {
		if of, err := p.one(l); err == nil {
			isCertain = !all.or(of) && isCertain
		}
	}
	switch {
	case len(all.Readings) == 0:
		return Report{}, formError(ReasonSeveralResults, "")
	case !isCertain:
		all.Doubt, all.Word = DoubtResults, ""
	}
	return all, nil
}

// isTotalBetween reports whether the first score stands between two sides of equal size and is the
// total of the others, which stand after both: "@alice 3:1 @bob (11:7 9:11 11:5 11:8)". maybe
// reports whether the first score stands there and may be the total, judging by its numbers or by
// brackets around the next score.
func (l line) isTotalBetween() (is, maybe bool) {
	scores, err := l.scores.scores()
	all := l.scores.numbers
	isApart := func(n number) bool { return n.at != len(l.people) }
	if err != nil || 2*all[0].at != len(l.people) || all[1].at != all[0].at || slices.ContainsFunc(all[2:], isApart) {
		return false, false
	}
	maybe = isTotal(scores[0], scores[1:])
	return maybe && len(scores) > 2 && scores[0] == ladder.ResultOf(scores[1:]).Score, maybe || all[2].isEnclosed
}

// hasTotal reports whether the score of a match may be the total of the sets in the next match: "@a
// 2:1 @b (6:4 4:6 6:2), @c 2:0 @d (6:4 6:3)".
func (r Reading) hasTotal() bool {
	for i, m := range r[1:] {
		if before := r[i].Scores; len(before) == 1 && len(m.Scores) > 1 && isTotal(before[0], m.Scores) {
			return true
		}
	}
	return false
}

// playsEach reports whether the sender plays in every match, one on one.
func (p parser) playsEach(r Report) bool {
	return !slices.ContainsFunc(slices.Concat(r.Readings...), func(m Match) bool {
		return m.size() > 2 || !m.A[0].IsSame(p.sender) && !m.B[0].IsSame(p.sender)
	})
}

// results reads each part of a line as a result, which may continue the previous one:
// "lost to @bob 1:3 and @carol 2:3".
func (p parser) results(l line, parts [][]word) (Report, error) {
	var all []line
	for _, words := range parts {
		next, err := p.read(words)
		if err != nil {
			return Report{}, err
		}
		if count := len(next.scores.numbers); len(next.people) == 0 || count == 0 || count%2 != 0 || next.isSpread() {
			return Report{}, formError(ReasonSeveralResults, "")
		}
		next.isPast, next.joined = l.isPast, nil
		if len(all) > 0 {
			next.follow(all[len(all)-1], p.sender)
		}
		all = append(all, next)
	}
	return p.each(all)
}

// follow applies the sender's outcome in the previous result to l, unless l states one itself.
func (l *line) follow(before line, sender Person) {
	said := before.ofSender(sender)
	isAlone, isSilent := len(l.people) == 1, len(l.claims()) == 0
	l.said, l.isOfSender = unknown, said != unknown && isAlone
	if isSilent {
		l.said = said
	}
	// In "@bob beat me 3:1 and @carol 3:2", the sender probably did not beat Carol.
	l.isOpen = said == unknown && before.hasClaim() && isAlone || before.isOpen && isSilent
}

// ofSender returns the outcome that a line states for the sender as its subject, or unknown if it
// states none.
func (l line) ofSender(sender Person) meaning {
	isOfOther := func(p piece) bool {
		return p.isObject() || p.meaning == passive || p.meaning == of || p.isOf(others, several)
	}
	if slices.ContainsFunc(l.pieces, isOfOther) {
		return unknown
	}
	if l.said != unknown {
		return l.said
	}
	for _, p := range l.claims() {
		if p.at == 0 || p.at == 1 && len(l.people) > 1 && l.people[0].IsSame(sender) {
			return p.meaning
		}
	}
	return unknown
}

// parts divides a line into results. In each result, the scores follow the people, precede them if
// the line begins with a score, or stand between two people, as in "@alice 3:1 @bob, @carol 3:2
// @dave". A word between two parts belongs to the next part, with two exceptions: a word that ends
// a match, such as "ret", and a word about the outcome that directly follows a part without such a
// word, as in "gegen @bob 3:1 gewonnen". hasWordBetween reports whether a word that states an
// outcome or separates sides stands between two parts.
func (l line) parts() (all [][]word, hasWordBetween bool) {
	isBetween := len(l.people) == len(l.scores.numbers) && l.scores.numbers[0].at == 1
	var first, last word // the first person or score, and the last one so far
	start, end := 0, 0   // of a part; end is the index after last
	for i, w := range l.words {
		if !w.isPerson() && !w.isScore() {
			continue
		}
		isNext := w.isPerson() == first.isPerson() && w.isPerson() != last.isPerson()
		if isBetween {
			isNext = w.isPerson() && last.isPerson()
		}
		if end == 0 {
			first = w
		} else if isNext {
			between := l.words[end:i]
			separates := func(w word) bool { return w.isClaim() || w.meaning == versus }
			hasWordBetween = hasWordBetween || slices.ContainsFunc(between, separates)
			ending := slices.IndexFunc(between, func(w word) bool { return w.isEnding() || w.meaning == and }) + 1
			if ending > 0 && between[ending-1].isEnding() { // "3:1 ret and @carol 3:0"
				end += ending
			}
			isFollowed := len(between) > 0 && between[0].isClaim() && !hasPause(between[0].before)
			if isFollowed && !slices.ContainsFunc(l.words[start:end], word.isClaim) {
				end++
			}
			all, start = append(all, l.words[start:end:end]), end
		}
		last, end = w, i+1
	}
	return append(all, l.words[start:]), hasWordBetween
}

// isHeading reports whether a line may be about the lines below, because it has no numbers and
// names a person or an outcome: "lost:".
func (t text) isHeading(names *Names) bool {
	isKnown := func(n plainName) bool { return len(n.people) > 0 }
	isOfPerson := len(t.people) > 0 || slices.ContainsFunc(cmp.Or(names, new(Names)).find(t, true), isKnown)
	return !strings.ContainsFunc(t.written, isDigit) && (isOfPerson || slices.ContainsFunc(t.words(), word.isClaim))
}

// withoutBadLine reads a report without its one unreadable line. ok reports whether exactly one
// line is unreadable, at least one other line is a report, and none is in doubt. It is false if the
// bad line may belong to the results above or below, because it begins with a number or is a
// heading above all of them.
func (p parser) withoutBadLine(t text, names *Names) (others Report, ok bool) {
	others = Report{Doubt: DoubtLine, Readings: []Reading{nil}}
	for _, line := range t.lines() {
		written := line.label()
		if written == "" {
			continue
		}
		switch report, err := p.parseNames(line, names); {
		case err == nil && report.Doubt == DoubtNone:
			others.Readings[0] = append(others.Readings[0], report.Readings[0]...)
		case err == nil && !report.Readings[0].hasLikelyGuest(), others.Word != "", startsWithDigit(written),
			len(others.Readings[0]) == 0 && line.isHeading(names):
			return Report{}, false
		default:
			others.Word = written
		}
	}
	return others, others.Word != "" && len(others.Readings[0]) > 0
}
