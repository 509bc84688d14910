package command

import (
	"strings"
	"unicode/utf8"
)

// parser reads a report.
type parser struct{ sender, replied Person }

// senderPlays reports whether the sender can be one of the players.
func (p parser) senderPlays() bool { return p.sender.isKnown() && !p.sender.IsBot }

// line is what one result says, or several in one line.
type line struct {
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

// parse reads the arguments of a report, in which all people are mentions.
func (p parser) parse(c Command) (Report, error) {
	lines, err := p.lines(c)
	if err != nil {
		return Report{}, err
	}
	var all Report
	for _, l := range lines {
		of, err := p.readings(l)
		if err != nil {
			return Report{}, err
		}
		if all, err = all.and(of); err != nil {
			return Report{}, err
		}
	}
	return all, nil
}

// lines reads all words of a report. If at least two lines name people and numbers,
// each line is a report of its own; otherwise the whole text is one.
func (p parser) lines(c Command) ([]line, error) {
	whole, err := p.line(c)
	if err != nil || !strings.Contains(c.Args, "\n") || len(whole.scores.numbers) < 4 {
		return []line{whole}, err
	}
	var complete, partial []line
	start := 0
	for text := range strings.SplitAfterSeq(c.Args, "\n") {
		l, err := p.line(c.part(start, start+len(text)))
		if err != nil {
			return nil, err
		}
		start += len(text)
		switch hasPeople, hasNumbers := len(l.people) > 0, len(l.scores.numbers) > 0; {
		case hasPeople && hasNumbers:
			complete = append(complete, l)
		case hasPeople || hasNumbers || len(l.versus)+len(l.claims) > 0:
			partial = append(partial, l)
		}
	}
	switch {
	case len(complete) < 2:
		return []line{whole}, nil
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

// line reads the words of a line, and puts its people in their order.
func (p parser) line(c Command) (line, error) {
	l := line{scores: scoreText{numbers: make([]number, 0, 2)}}
	if claim := claimOf(c.Written); claim != unknown {
		l.claims = append(l.claims, mark{word: c.Written, meaning: claim})
	}
	added, named := 0, false // how many mentions are people already, and whether the last thing was a person
	add := func(before int) {
		for ; added < c.mentionsBefore(before); added++ {
			l.people, named = append(l.people, c.Mentions[added].identify(p.sender).identify(p.replied)), true
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
		m := l.meaningOf(word, rest)
		at := mark{word, m, len(l.people), len(l.scores.numbers)}
		switch {
		case m == filler, m == and:
		case m == me:
			l.people, l.names, named = append(l.people, p.sender), true, true
		case m == versus, afterName && isDash(word) && c.mentionFollows(rest):
			l.versus = append(l.versus, at)
		case m == won, m == lost, m == drew:
			l.claims = append(l.claims, at)
		case afterName && (isDash(word) || isColonWord(word)): // punctuation after a name
		default:
			if m == separator {
				word = ":"
			}
			if afterName {
				word = cutColon(word)
			}
			if err := l.scores.add(withColon(word), len(l.people)); err != nil {
				return line{}, err
			}
		}
	}
	for ; added < len(c.Mentions); added++ {
		l.people = append(l.people, c.Mentions[added].identify(p.sender).identify(p.replied))
	}
	return l, nil
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
func (l *line) meaningOf(word, rest string) meaning {
	m := meaningOf(word)
	if m != separator && m != times {
		return m
	}
	next, _ := cutWord(rest)
	switch between := l.scores.afterNumber && startsWithDigit(next); {
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
