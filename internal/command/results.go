package command

import (
	"fmt"
	"slices"
	"strings"
)

// readings returns the ways to read a line.
func (p parser) readings(l line) (Report, error) {
	if l.isFreeForAll() {
		return Report{}, formError(ReasonFreeForAll, "")
	}
	scores, err := l.scores.scores()
	if outcome, ok := l.withoutScore(); ok {
		scores, err = []Score{outcome}, nil
	}
	if err == nil && len(l.people) > 1 && l.isSpread() {
		return p.several(l, scores)
	}
	return p.one(l, scores, err)
}

// one reads a line as one match with these scores, or with an error in them.
func (p parser) one(l line, scores []Score, scoresErr error) (Report, error) {
	l = p.withSender(l)
	m, err := p.players(l)
	if err != nil {
		return Report{}, err
	}
	if scoresErr != nil {
		return Report{}, scoresErr
	}
	m.Scores = scores
	report, err := l.likely(m)
	if err == nil && l.isHalf && len(scores) == 1 && scores[0].HasPoints() {
		report.or(Report{Readings: []Reading{{Match{A: m.A, B: m.B, Self: m.Self, Scores: []Score{draw}}}}})
		report.Doubt = DoubtWinner
	}
	if aside := l.asides(scores); err == nil && len(aside) > 0 && len(report.Readings[0][0].Scores) == len(scores) {
		report, err = l.orWithout(m, aside)
	}
	if a, b := points(scores); err == nil && a != b && p.maybeEach(l) {
		return p.orEach(report), nil
	}
	if err == nil && report.Doubt == DoubtNone && mayBeMatches(m.Scores) {
		return orSeparate(report), nil
	}
	return report, err
}

// mayBeMatches is true if scores are hardly those of sets, but each that of a match: "3:1 2:3".
func mayBeMatches(scores []Score) bool {
	const fewest, most = 2, 5 // points of who wins a match of several sets
	isOfMatch := func(s Score) bool { return fewest <= max(s.A, s.B) && max(s.A, s.B) <= most }
	return len(scores) > 1 && !slices.ContainsFunc(scores, func(s Score) bool { return !isOfMatch(s) })
}

// orSeparate adds to a match with several scores that each of them is a match.
func orSeparate(report Report) Report {
	var each Reading
	for _, s := range report.Readings[0][0].Scores {
		m := report.Readings[0][0]
		m.Scores = []Score{s}
		each = append(each, m)
	}
	report.Readings = append(report.Readings, each)
	report.Doubt, report.Word = DoubtResults, ""
	return report
}

// asides returns the indexes of scores in brackets of their own behind others, which may be those of a half-time or a tie-break: "5:3
// (3:1)", "7:6 (7:4) 6:4".
func (l line) asides(scores []Score) (all []int) {
	numbers := l.own
	if numbers == nil {
		numbers = l.scores.numbers
	}
	if len(numbers) < 2*len(scores) || len(scores) < 2 || numbers[0].enclosed {
		return nil
	}
	for i := range scores {
		if numbers[2*i].enclosed && isAside(scores[i], scores[i-1]) {
			all = append(all, i)
		}
	}
	return all
}

// isAside is true if a score in brackets may be that of the first half of another one, or of its tie-break.
func isAside(s, of Score) bool {
	return s.A <= of.A && s.B <= of.B || max(of.A, of.B) == 7 && min(of.A, of.B) == 6
}

// orWithout returns the readings of a match without and with the scores that are asides.
func (l line) orWithout(m Match, asides []int) (Report, error) {
	without := m
	without.Scores = nil
	for i, s := range m.Scores {
		if !slices.Contains(asides, i) {
			without.Scores = append(without.Scores, s)
		}
	}
	all, err := l.likely(without)
	if err != nil {
		return Report{}, err
	}
	with, err := l.likely(m)
	if err != nil {
		return Report{}, err
	}
	all.or(with)
	aside := m.Scores[asides[0]]
	all.Doubt, all.Word = DoubtTotal, fmt.Sprintf("%d:%d", aside.A, aside.B)
	return all, nil
}

// maybeEach is true if a line is about two people of whom the sender may have beaten each, as in "@bob and @carol 3:1". If it is a draw, it
// is between the two.
func (p parser) maybeEach(l line) bool {
	return l.isJoined && len(l.people) == 2 && len(l.versus)+len(l.claims) == 0 && p.senderPlays() &&
		!slices.ContainsFunc(l.people, func(other Person) bool { return other.isSame(p.sender) })
}

// orEach adds to each reading of a match between two people that the sender has played each of them.
func (p parser) orEach(report Report) Report {
	for _, reading := range report.Readings {
		m := reading[0]
		report.Readings = append(report.Readings, Reading{
			{A: []Person{p.sender}, B: m.A, Self: true, Past: m.Past, Scores: m.Scores},
			{A: []Person{p.sender}, B: m.B, Self: true, Past: m.Past, Scores: m.Scores},
		})
	}
	report.Doubt, report.Word = DoubtResults, ""
	return report
}

// isFreeForAll is true if the line has at least three people or sides, with a number for each.
func (l line) isFreeForAll() bool {
	count := len(l.scores.numbers)
	return count >= 3 && (len(l.versus) == 0 && len(l.people) == count && l.scores.count()%(count-1) < 2 || len(l.versus) == count-1)
}

// isSpread is true if people stand between the scores.
func (l line) isSpread() bool {
	all := l.scores.numbers
	for i := 2; i < len(all); i += 2 {
		if all[i].at != all[0].at {
			return true
		}
	}
	return false
}

// several reads a line in which people stand between the scores. If every name has a score after it, each is a result of the sender.
// Whatever else may be one result or several is in doubt.
func (p parser) several(l line, scores []Score) (Report, error) {
	var all Report
	isCertain := l.scores.numbers[0].at > 0
	for _, trailing := range [...]bool{false, true} {
		of, err := p.results(l, scores, trailing)
		if err == nil && all.or(of) {
			all.Doubt, all.Word = of.Doubt, of.Word
			isCertain = isCertain && p.playsEach(of)
		}
	}
	if maybeOne := len(all.Readings) == 0 || !isCertain || l.hasWordAfterScore(); maybeOne && !l.claimsOfSender() {
		if of, err := p.one(l, scores, nil); err == nil {
			isCertain = !all.or(of) && isCertain
		}
	}
	if len(all.Readings) == 0 {
		all.Readings, isCertain = p.between(l, scores), false
	}
	switch {
	case len(all.Readings) == 0:
		return Report{}, formError(ReasonSeveralResults, "")
	case !isCertain || len(all.Readings) > 1 && all.Doubt == DoubtNone:
		all.Doubt, all.Word = DoubtResults, ""
	}
	return all, nil
}

// between reads a line as matches with the score between two people each, as in "@a 3:1 @b, @c 3:2 @d".
func (p parser) between(l line, scores []Score) []Reading {
	if len(l.people) != 2*len(scores) || len(l.versus)+len(l.claims) > 0 {
		return nil
	}
	var r Reading
	for i, s := range scores {
		a, b := l.scores.numbers[2*i], l.scores.numbers[2*i+1]
		pair := l.people[2*i : 2*i+2]
		if a.at != 2*i+1 || b.at != 2*i+1 || checkPeople(pair) != nil || l.names && !p.senderPlays() {
			return nil
		}
		r = append(r, Match{A: pair[:1:1], B: pair[1:2:2], Past: l.isPast, Scores: []Score{s}})
	}
	return []Reading{r}
}

// results reads each part of a line as a result of its own.
func (p parser) results(l line, scores []Score, trailing bool) (Report, error) {
	parts := p.parts(l, trailing)
	if len(parts) == 0 {
		return Report{}, formError(ReasonSeveralResults, "")
	}
	var all Report
	for _, part := range parts {
		of, err := p.one(part.line, scores[part.start/2:part.end/2], nil)
		if err != nil {
			return Report{}, err
		}
		if all, err = all.and(of); err != nil {
			return Report{}, err
		}
	}
	return all, nil
}

// playsEach is true if the sender plays alone against somebody else in all matches.
func (p parser) playsEach(r Report) bool {
	for _, m := range slices.Concat(r.Readings...) {
		if len(m.A)+len(m.B) > 2 || !m.A[0].isSame(p.sender) && !m.B[0].isSame(p.sender) {
			return false
		}
	}
	return true
}

// hasWordAfterScore is true if a word says who won or separates sides between a score and the next person.
func (l line) hasWordAfterScore() bool {
	return slices.ContainsFunc(slices.Concat(l.versus, l.claims), func(m mark) bool {
		return m.at > 0 && m.numbers > 0 && m.at < len(l.people) && l.scores.numbers[m.numbers-1].at == m.at
	})
}

// part is a part of a line that may be a result of its own.
type part struct {
	line
	start, end int // the indexes of its numbers
	from, to   int // the indexes of its people
}

// parts divides a line into people with the scores behind them, or before them if the line begins with a score. A word between two parts
// belongs to the next one, or, if trailing and about the winner, to the one before. It returns nothing if people are left over.
func (p parser) parts(l line, trailing bool) []part {
	numbers := l.scores.numbers
	var parts []part
	for i, n := range numbers {
		if i == 0 || n.at != numbers[i-1].at {
			parts = append(parts, part{start: i})
		}
		parts[len(parts)-1].end = i + 1
	}
	from := 0
	for i := range parts {
		s := &parts[i]
		s.from, s.to = from, numbers[s.start].at
		if isScoreFirst := numbers[0].at == 0; isScoreFirst && i+1 < len(parts) {
			s.to = numbers[parts[i+1].start].at
		} else if isScoreFirst {
			s.to = len(l.people)
		}
		if s.from == s.to || (s.end-s.start)%2 != 0 {
			return nil
		}
		s.people = slices.Clip(l.people[s.from:s.to])
		s.names = l.names && slices.Contains(s.people, p.sender)
		s.isPast, s.own = l.isPast, numbers[s.start:s.end]
		from = s.to
	}
	if from < len(l.people) {
		return nil
	}
	for _, m := range l.versus {
		s, m := partOf(parts, m, false)
		s.versus = append(s.versus, m)
	}
	for _, m := range l.claims {
		s, m := partOf(parts, m, trailing)
		s.claims = append(s.claims, m)
	}
	for _, m := range l.roles {
		s, m := partOf(parts, m, false)
		s.roles = append(s.roles, m)
	}
	parts[0].isOfSender, parts[0].isSaid = l.isOfSender, l.isSaid
	for i := range parts[1:] {
		before, next := parts[i], &parts[i+1]
		said := before.claimsOf(p.sender)
		if len(next.claims) == 0 && len(said) > 0 { // "lost to @bob 1:3 and @carol 2:3"
			next.claims, next.isSaid = said, true
		}
		next.isOfSender = len(said) > 0 && len(next.people) == 1
		// In "@bob beat me 3:1 and @carol 3:2", the sender has hardly beaten Carol, nor lost in "lost to @bob 1:3 and @carol 3:1".
		isTurned := next.isSaid && before.own[0].exceeds(before.own[1]) != next.own[0].exceeds(next.own[1])
		next.isOpen = len(said) == 0 && len(before.claims) > 0 && len(next.people) == 1 || before.isOpen && len(next.claims) == 0 || isTurned
	}
	return parts
}

// partOf returns the part of a line that a word belongs to, and where it stands in there.
func partOf(parts []part, m mark, trailing bool) (*part, mark) {
	i := 0
	for i < len(parts)-1 {
		end := parts[i].to + parts[i].end
		if at := m.at + m.numbers; at < end || at == end && trailing {
			break
		}
		i++
	}
	m.at, m.numbers = m.at-parts[i].from, m.numbers-parts[i].start
	return &parts[i], m
}

// claimsOf returns what a line says about who won, as if it were said of the sender who is not named, if it is about them.
func (l line) claimsOf(sender Person) []mark {
	isOfOther := func(r mark) bool {
		return r.meaning == me && objects[strings.ToLower(r.word)] || r.meaning == passive || r.meaning == of
	}
	if slices.ContainsFunc(l.roles, isOfOther) || slices.ContainsFunc(l.claims, func(m mark) bool { return m.isOf(others, several) }) {
		return nil
	}
	var all []mark
	for _, m := range l.claims {
		if m.at == 0 || m.at == 1 && len(l.people) > 1 && l.people[0].isSame(sender) {
			all = append(all, mark{word: m.word, meaning: m.meaning, verbs: m.verbs})
		}
	}
	return all
}

// withoutBadLine reads a report with a line for each result, one of which cannot be read. ok is false unless all the others are clear. A bad
// line that begins with a number may be a set of the result above.
func (p parser) withoutBadLine(c Command, names *Names) (others Report, ok bool) {
	others = Report{Doubt: DoubtLine, Readings: []Reading{nil}}
	start := 0
	for text := range strings.SplitAfterSeq(c.Args, "\n") {
		part := c.part(start, start+len(text))
		start += len(text)
		written := part.asWritten()
		if written == "" {
			continue
		}
		switch report, err := p.read(part, names); {
		case err == nil && report.Doubt == DoubtNone:
			others.Readings[0] = append(others.Readings[0], report.Readings[0]...)
		case err == nil, others.Word != "", startsWithDigit(written):
			return Report{}, false
		default:
			others.Word = written
		}
	}
	return others, others.Word != "" && len(others.Readings[0]) > 0
}

// asWritten returns the arguments with all mentions, in one line.
func (c Command) asWritten() string {
	var b strings.Builder
	done := 0
	for i := range min(len(c.Mentions), len(c.MentionOffsets)) {
		at := min(max(done, c.MentionOffsets[i]), len(c.Args))
		b.WriteString(c.Args[done:at] + " " + c.Mentions[i].label() + " ")
		done = at
	}
	b.WriteString(c.Args[done:])
	return strings.Join(strings.Fields(b.String()), " ")
}
