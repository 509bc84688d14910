package command

import (
	"strings"
	"unicode/utf8"
)

const (
	// MaxSets is the maximum number of scores in a match.
	MaxSets = 25
	// MaxTeam is the maximum number of people on one side of a match.
	MaxTeam = 10
)

// Match is a reported result. Each side has at least one person. All people are
// different, and none of them is a bot.
type Match struct {
	A, B   []Person
	Self   bool    // A is the sender alone, without being mentioned
	Scores []Score // one, or the sets in the order in which they were played
}

// Score is the score of a match or a set: the points of A and B, each from 0 to 999.
type Score struct{ A, B int }

// Reading is one way to read a report: the matches that it reports, in their
// order. There is at least one.
type Reading []Match

// ParseMatch reads the arguments of /match, /won, /lost and /draw. sender is the
// zero Person if unknown (an anonymous admin). reply is the author of the message
// replied to, nil if there is none; its IsBot must be set for bots, including this
// one. A mention of the sender or of the author yields that Person.
//
// There are several readings, the likeliest one first, if the report does not say
// which of them is meant. Every error is a *FormError.
func ParseMatch(c Command, sender Person, reply *Person) ([]Reading, error) {
	if c.Args == "" && len(c.Mentions) == 0 {
		return nil, formError(ReasonEmpty, "")
	}
	p := parser{sender: sender}
	if reply != nil {
		p.replied = *reply
	}
	lines, err := p.lines(c)
	if err != nil {
		return nil, err
	}
	if len(lines) == 1 {
		return p.readings(lines[0])
	}
	var all Reading
	for _, line := range lines {
		of, err := p.readings(line)
		if err != nil {
			return nil, err
		}
		if len(of) > 1 || len(of[0]) > 1 {
			return nil, formError(ReasonSeveralResults, "")
		}
		all = append(all, of[0][0])
	}
	return []Reading{all}, nil
}

// parser reads a report.
type parser struct{ sender, replied Person }

// senderPlays reports whether the sender can be one of the players.
func (p parser) senderPlays() bool { return p.sender.isKnown() && !p.sender.IsBot }

// report is the text of one result, or of several on one line.
type report struct {
	scores scoreText
	people []Person
	// versus are the words between sides, and claims those that say who won or lost.
	versus, claims []mark
	names          bool // a word stands for the sender
}

// mark is a word in a report.
type mark struct {
	word    string
	meaning meaning
	at      int // how many people stand before it
	numbers int // how many numbers stand before it
}

// lines reads all words of a report. If at least two lines name people and numbers,
// each line is a report of its own; otherwise the whole text is one.
func (p parser) lines(c Command) ([]report, error) {
	whole, err := p.report(c)
	if err != nil || !strings.Contains(c.Args, "\n") || len(whole.scores.numbers) < 4 {
		return []report{whole}, err
	}
	var complete, partial []report
	start := 0
	for line := range strings.SplitAfterSeq(c.Args, "\n") {
		r, err := p.report(c.part(start, start+len(line)))
		if err != nil {
			return nil, err
		}
		start += len(line)
		switch hasPeople, hasNumbers := len(r.people) > 0, len(r.scores.numbers) > 0; {
		case hasPeople && hasNumbers:
			complete = append(complete, r)
		case hasPeople || hasNumbers || len(r.versus)+len(r.claims) > 0:
			partial = append(partial, r)
		}
	}
	switch {
	case len(complete) < 2:
		return []report{whole}, nil
	case len(partial) > 0:
		return nil, formError(ReasonSeveralResults, "")
	default:
		return complete, nil
	}
}

// part returns the command with a part of its arguments, from one offset to another.
func (c Command) part(start, end int) Command {
	isLast := end == len(c.Args)
	c.Args = c.Args[start:end]
	mentions, offsets := c.Mentions, c.MentionOffsets
	c.Mentions, c.MentionOffsets = nil, nil
	for i := range min(len(mentions), len(offsets)) {
		if offsets[i] >= start && (offsets[i] < end || isLast) {
			c.Mentions, c.MentionOffsets = append(c.Mentions, mentions[i]), append(c.MentionOffsets, offsets[i]-start)
		}
	}
	return c
}

// report reads the words of a report, and puts its people in their order.
func (p parser) report(c Command) (report, error) {
	r := report{scores: scoreText{numbers: make([]number, 0, 2)}}
	if claim := claimOf(c.Written); claim != unknown {
		r.claims = append(r.claims, mark{word: c.Written, meaning: claim})
	}
	added, named := 0, false // how many mentions are people already, and whether the last thing was a person
	add := func(before int) {
		for ; added < c.mentionsBefore(before); added++ {
			r.people, named = append(r.people, c.Mentions[added].identify(p.sender).identify(p.replied)), true
		}
	}
	for rest := c.Args; rest != ""; {
		var word string
		word, rest = cutWord(rest)
		if word == "" {
			break
		}
		add(len(c.Args) - len(rest))
		afterName := named
		if word = bare(word); word == "" {
			continue
		}
		named = false
		m := r.meaningOf(word, rest)
		at := mark{word, m, len(r.people), len(r.scores.numbers)}
		switch {
		case m == filler, m == and:
		case m == me:
			r.people, r.names, named = append(r.people, p.sender), true, true
		case m == versus, afterName && isDash(word) && c.mentionFollows(rest):
			r.versus = append(r.versus, at)
		case m == won, m == lost, m == drew:
			r.claims = append(r.claims, at)
		case afterName && (isDash(word) || isColonWord(word)): // punctuation after a name
		default:
			if m == separator {
				word = ":"
			}
			if afterName {
				word = cutColon(word)
			}
			if err := r.scores.add(withColon(word), len(r.people)); err != nil {
				return report{}, err
			}
		}
	}
	for ; added < len(c.Mentions); added++ {
		r.people = append(r.people, c.Mentions[added].identify(p.sender).identify(p.replied))
	}
	return r, nil
}

// claimOf returns what a command says about who won.
func claimOf(name string) meaning {
	switch name {
	case NameWon:
		return won
	case NameLost:
		return lost
	case NameDraw:
		return drew
	default:
		return unknown
	}
}

// meaningOf returns what a word stands for where it is. rest is the text after it.
func (r *report) meaningOf(word, rest string) meaning {
	m := meaningOf(word)
	if m != separator && m != times {
		return m
	}
	next, _ := cutWord(rest)
	switch between := r.scores.afterNumber && startsWithDigit(next); {
	case between:
		return separator
	case m == times:
		return versus
	default:
		return filler
	}
}

// mentionFollows reports whether a mention is the next thing in the rest of the arguments.
func (c Command) mentionFollows(rest string) bool {
	from := len(c.Args) - len(rest)
	next := strings.TrimLeftFunc(rest, isBreak)
	if next == "" {
		return c.mentionsBefore(from) < len(c.Mentions)
	}
	return c.mentionsBefore(from) < c.mentionsBefore(len(c.Args)-len(next)+1)
}

func isColonWord(word string) bool {
	r, size := utf8.DecodeRuneInString(word)
	return size == len(word) && isColon(r)
}

// cutColon removes the colon between a name and its score, as in "@bob:3:1".
func cutColon(word string) string {
	if rest := strings.TrimLeftFunc(word, isColon); startsWithDigit(rest) && strings.ContainsFunc(rest, isSeparator) {
		return rest
	}
	return word
}

// withColon returns a word such as "3x1" as "3:1".
func withColon(word string) string {
	for _, sign := range [...]string{"x", "X", "х", "Х", "×"} {
		if a, b, ok := strings.Cut(word, sign); ok && isNumber(a) && isNumber(b) {
			return a + ":" + b
		}
	}
	return word
}

// readings returns the ways to read a report.
func (p parser) readings(r report) ([]Reading, error) {
	if r.isFreeForAll() {
		return nil, formError(ReasonFreeForAll, "")
	}
	scores, scoresErr := r.scores.scores()
	if scoresErr == nil && len(r.people) > 1 && r.isSpread() {
		return p.several(r, scores)
	}
	m, err := p.players(r)
	if err != nil {
		return nil, err
	}
	if scoresErr != nil {
		return nil, scoresErr
	}
	m.Scores = scores
	return r.likely(m)
}

// isFreeForAll reports whether the report has at least three people or sides, with a number for each.
func (r report) isFreeForAll() bool {
	count := len(r.scores.numbers)
	return count >= 3 && (len(r.versus) == 0 && len(r.people) == count && r.scores.count()%(count-1) < 2 || len(r.versus) == count-1)
}

// isSpread reports whether people stand between the scores.
func (r report) isSpread() bool {
	all := r.scores.numbers
	for i := 2; i < len(all); i += 2 {
		if all[i].at != all[0].at {
			return true
		}
	}
	return false
}

// several reads several results in one text: each person has a score behind the name, and has played the sender.
func (p parser) several(r report, scores []Score) ([]Reading, error) {
	if len(r.versus)+len(r.claims) > 0 || r.names {
		return nil, formError(ReasonSeveralResults, "")
	}
	of := make([][]Score, len(r.people))
	for i, s := range scores {
		at := r.scores.numbers[2*i].at
		if at == 0 || at != r.scores.numbers[2*i+1].at {
			return nil, formError(ReasonSeveralResults, "")
		}
		of[at-1] = append(of[at-1], s)
	}
	var all Reading
	for i, person := range r.people {
		if len(of[i]) == 0 {
			return nil, formError(ReasonSeveralResults, "")
		}
		m, err := p.players(report{people: []Person{person}})
		if err != nil {
			return nil, err
		}
		m.Scores = of[i]
		readings, err := report{}.likely(m)
		if err != nil {
			return nil, err
		}
		if len(readings) > 1 {
			return nil, formError(ReasonSeveralResults, "")
		}
		all = append(all, readings[0]...)
	}
	return []Reading{all}, nil
}
