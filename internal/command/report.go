package command

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// parser reads a report.
type parser struct{ sender, replied Person }

// senderPlays is true if the sender can be one of the players.
func (p parser) senderPlays() bool { return p.sender.isKnown() && !p.sender.IsBot }

// line is what one result says, or several in one line.
type line struct {
	scores scoreText
	own    []number // the numbers of this result, if it is one of several in the line
	people []Person
	// versus are the words between sides, claims those that say who won or lost, and roles those that tell which of the people in the
	// sentence did: prepositions, articles, auxiliaries, and words for the sender.
	versus, claims, roles []mark
	names                 bool  // a word stands for the sender
	isJoined              bool  // "and" joins the first two people
	isOfSender            bool  // the command, or the result before, says that the sender is the subject: "I beat @bob 3:1 and lost to @carol 1:3"
	isSaid                bool  // the first of claims stands in the command or the result before
	isPast                bool  // it was played on another day
	isOpen                bool  // something else leaves open who won
	apart                 []int // the indexes of people who do not belong to the one before, at least in a sentence about who won
	isHalf                bool  // the score is written "1/2", which may be half a point for each
}

// mark is a word in a report.
type mark struct {
	word    string
	meaning meaning
	place   int  // where it stands among the words
	at      int  // how many people stand before it
	numbers int  // how many numbers stand before it
	named   bool // a person stands directly before it
	isApart bool // a comma or the like stands between
	verbs   []verb
}

// parse reads the arguments of a report, in which all people are mentions.
func (p parser) parse(c Command) (Report, error) {
	lines, err := p.lines(c)
	if err != nil {
		return Report{}, err
	}
	var all Report
	for i, l := range lines {
		if i > 0 && l.isSaid && l.winsFirst() != lines[0].winsFirst() {
			l.isOpen = true // "/lost @bob 1:3", and below it "@carol 3:1"
		}
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

// winsFirst is true if the first number of the first score is the larger one.
func (l line) winsFirst() bool {
	all := l.scores.numbers
	return len(all) > 1 && all[0].exceeds(all[1])
}

// lines reads all words of a report. If at least two lines name people and numbers, each line is a report of its own; otherwise the whole
// text is one.
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
	isLast := end == len(c.Args) && (start == end || c.Args[end-1] != '\n')
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
	l := line{scores: scoreText{numbers: make([]number, 0, 2)}, isOpen: isQuestion(c.Args)}
	if claim := claimOf(c.Written); claim != unknown {
		l.claims, l.isOfSender, l.isSaid = append(l.claims, mark{word: "/" + c.Written, meaning: claim}), true, true
	}
	added, named, last := 0, false, 0 // how many mentions are people already, whether the last thing was a person, and where the last one stands
	add := func(before int) {
		for ; added < c.mentionsBefore(before); added++ {
			at := min(max(last, c.MentionOffsets[added]), len(c.Args))
			l.addPerson(c.Mentions[added].identify(p.sender).identify(p.replied), c.Args[last:at], false)
			named, last = true, at
		}
	}
	var telling meaning // the last word but those without an effect
	days := make(map[meaning]bool)
	for rest := c.Args; rest != ""; {
		var word string
		word, rest = cutWord(rest)
		if word == "" {
			break
		}
		end := len(c.Args) - len(rest)
		add(end)
		enclosed := isEnclosed(word)
		between := c.Args[min(last, end):end]
		between = between[:max(0, strings.LastIndex(between, word))]
		if word = withoutTieBreak(bare(word)); word == "" {
			continue
		}
		next := following{c, rest}
		m := l.meaningOf(word, next, named)
		isClaim := m == won || m == lost
		l.isOpen = l.isOpen || isClaim && telling == oneSet || m == oneSet && (telling == won || telling == lost)
		if days[m] = true; m == oneSet || !m.isMinor() && m != me {
			telling = m
		}
		if m == me {
			l.roles = append(l.roles, l.mark(word, me, false))
			l.addPerson(p.sender, between, true)
			l.names, named, last = true, true, end
			continue
		}
		before := len(l.scores.numbers)
		if err := l.add(word, m, named, next); err != nil {
			return line{}, err
		}
		if isClaim && named {
			l.claims[len(l.claims)-1].isApart = hasPause(between)
		}
		for i := range l.scores.numbers[before:] {
			l.scores.numbers[before+i].enclosed = enclosed
		}
		named = named && m.isMinor()
	}
	for ; added < len(c.Mentions); added++ {
		l.people = append(l.people, c.Mentions[added].identify(p.sender).identify(p.replied))
	}
	l.isPast, l.isOpen = days[past], l.isOpen || days[past] && days[present] && len(l.claims) > 0
	return l, nil
}

// addPerson adds somebody. between is the text since the person before: without a word such as "and" in it, a comma or a word for the sender
// makes an address of that person, as in "@bob, I beat @carol".
func (l *line) addPerson(p Person, between string, isSender bool) {
	isAnd := slices.ContainsFunc(strings.Fields(between), func(word string) bool { return meaningOf(bare(word)) == and })
	switch before := len(l.people); {
	case isAnd: // "@alice, @bob and @carol"
		for i := before - 1; len(l.apart) > 0 && l.apart[len(l.apart)-1] == i; i-- {
			l.apart = l.apart[:len(l.apart)-1]
		}
	case before > 0 && (isSender || hasPause(between)):
		l.apart = append(l.apart, before)
	}
	l.people = append(l.people, p)
}

// isQuestion is true if a text asks for a score: "@bob beat @carol 3:1?"
func isQuestion(text string) bool {
	score := strings.TrimRightFunc(text, func(r rune) bool { return isSpace(r) || r == '!' || r == '?' })
	last := score[strings.LastIndexFunc(score, isSpace)+1:]
	isClaim := meaningOf(last) == won || meaningOf(last) == lost
	return (endsWithDigit(score) || isClaim) && strings.Contains(text[len(score):], "?")
}

// hasPause is true if a text has a sign at which a reader pauses.
func hasPause(text string) bool {
	return strings.ContainsAny(text, ".,;:!?…()[]–—\n") || strings.Contains(text, " - ")
}

// isEnclosed is true if a word is in brackets of its own.
func isEnclosed(word string) bool {
	return word != "" && strings.ContainsAny(word[:1], "([") && strings.ContainsAny(word[len(word)-1:], ")]")
}

// mark returns a word where the line ends so far.
func (l *line) mark(word string, m meaning, named bool) mark {
	place := len(l.versus) + len(l.claims) + len(l.roles)
	return mark{word: word, meaning: m, place: place, at: len(l.people), numbers: len(l.scores.numbers), named: named}
}

// add adds a word that names nobody. named says that a person stands directly before it.
func (l *line) add(word string, m meaning, named bool, next following) error {
	at := l.mark(word, m, named)
	switch m {
	case filler, oneSet, past, present:
	case and:
		l.isJoined = l.isJoined || named && len(l.people) == 1 && next.isPerson()
	case versus:
		l.versus = append(l.versus, at)
	case mood, over, marker, from, to, with, of, article, clitic, auxiliary, has, passive, pronoun, not:
		l.roles = append(l.roles, at)
	case won, lost, drew:
		at.verbs = verbs[strings.ToLower(word)]
		if len(l.people) == 0 && at.isOf(several) { // the sender has not named the own team
			return formError(ReasonUnexpectedWord, word)
		}
		l.claims = append(l.claims, at)
	case clock:
		return formError(ReasonUnexpectedWord, word)
	case walkover:
		return formError(ReasonWalkover, word)
	case separator:
		return l.scores.add(":", len(l.people))
	default:
		if named && !l.scores.afterNumber {
			word = cutColon(word)
		}
		if word == "1/2" {
			l.isHalf, word = true, "1:2"
		}
		if next.isNumber() {
			word = withSecondHalf(word)
		}
		return l.scores.add(withColon(word), len(l.people))
	}
	return nil
}

// claimOf returns what a command says about who won.
func claimOf(name string) meaning {
	switch name {
	case NameWon, "win":
		return won
	case NameLost, "lose":
		return lost
	case NameDraw:
		return drew
	default:
		return unknown
	}
}

// following is what stands behind a word in the arguments of a command.
type following struct {
	command Command
	rest    string
}

// isNumber is true if the next thing begins with a digit.
func (f following) isNumber() bool {
	word, _ := cutWord(f.rest)
	return startsWithDigit(strings.TrimLeftFunc(word, isDecoration)) && !f.isMention()
}

// isWord is true if a word that names nobody is the next thing.
func (f following) isWord() bool {
	word, _ := cutWord(f.rest)
	return !f.isMention() && meaningOf(bare(word)).isMinor()
}

// isMention is true if a mention is the next thing.
func (f following) isMention() bool {
	c := f.command
	from := len(c.Args) - len(f.rest)
	next := strings.TrimLeftFunc(f.rest, isBreak)
	if next == "" {
		return c.mentionsBefore(from) < len(c.Mentions)
	}
	return c.mentionsBefore(from) < c.mentionsBefore(len(c.Args)-len(next)+1)
}

// isObject is true if the next thing, without prepositions and articles, is a mention or a word for the sender.
func (f following) isObject() bool {
	return f.isPersonBehind(func(word string) bool {
		m := meaningOf(word)
		return over <= m && m <= clitic || m == separator || m == clock || strings.EqualFold(word, "the")
	})
}

// isWith is true if a word such as "with" is the next thing.
func (f following) isWith() bool {
	word, _ := cutWord(f.rest)
	return meaningOf(bare(word)) == with
}

// isParticiple is true if the next thing is a participle about who won.
func (f following) isParticiple() bool {
	word, _ := cutWord(f.rest)
	return slices.ContainsFunc(verbs[strings.ToLower(word)], func(v verb) bool { return v.language == "es" && (v.role == roleWon || v.role == roleBeaten) })
}

// isPersonBehind is true if a mention or a word for the sender follows, at most behind a few words that may be skipped.
func (f following) isPersonBehind(skips func(word string) bool) bool {
	const most = 3
	for range most {
		if f.isPerson() {
			return true
		}
		word, rest := cutWord(f.rest)
		if !skips(bare(word)) {
			return false
		}
		f.rest = rest
	}
	return f.isPerson()
}

// isPerson is true if a mention or a word for the sender is the next thing.
func (f following) isPerson() bool {
	word, _ := cutWord(f.rest)
	return f.isMention() || meaningOf(bare(word)) == me
}

// meaningOf returns what a word stands for where it is. named says that a person stands directly before it.
func (l *line) meaningOf(word string, next following, named bool) meaning {
	m, afterNumber := meaningOf(word), l.scores.afterNumber
	switch {
	case (m == separator || m == times) && afterNumber && next.isNumber():
		return separator
	case m == times:
		return versus
	case m == clock && next.isNumber():
		return clock
	case isDash(word) || isColonWord(word):
		return l.meaningOfSign(next, named)
	case m == mood && !named && !next.isPerson() && strings.Contains("🏆👑🥇", word):
		return filler // it is the sender who is glad
	case m == separator && strings.EqualFold(word, "a"), m == clock && strings.EqualFold(word, "в"):
		m = marker
	case m == separator:
		m = to
	case m == clock:
		m = of
	case m == clitic && next.isPerson():
		m = article
	case m == pronoun && isWe(word) && next.isWith(): // "мы с @carol": I and @carol
		return me
	case strings.EqualFold(word, "he") && !next.isParticiple():
		return pronoun
	}
	if isShare := m == of && named && next.isNumber() && len(l.people) == 1 && len(l.claims) == 0; over <= m && m <= article && !next.isObject() && !isShare { // "@bob by 3:1"
		return filler
	}
	return m
}

// meaningOfSign returns what a colon or a dash stands for: between two people it separates the sides, behind a name or in front of
// everything it is punctuation, and otherwise it is part of a score.
func (l *line) meaningOfSign(next following, named bool) meaning {
	switch {
	case named && next.isMention():
		return versus
	case named, len(l.people)+len(l.scores.numbers) == 0 && !next.isNumber(), l.scores.afterNumber && next.isWord():
		return filler
	default:
		return unknown
	}
}

// isOf is true if all that a word about who won can be is about these people.
func (m mark) isOf(people ...who) bool {
	return len(m.verbs) > 0 && !slices.ContainsFunc(m.verbs, func(v verb) bool { return !slices.Contains(people, v.who) })
}

func isColonWord(word string) bool {
	r, size := utf8.DecodeRuneInString(word)
	return size == len(word) && isColon(r)
}

// cutColon removes the colon between a name and its score, as in "@bob:3:1" and "@bob:3".
func cutColon(word string) string {
	if rest := strings.TrimLeftFunc(word, isColon); startsWithDigit(rest) {
		return rest
	}
	return word
}

// timesSigns are the letters and signs that people write between two numbers.
var timesSigns = [...]string{"x", "X", "х", "Х", "×"}

// withSecondHalf returns a word such as "3x", before another number, as "3:".
func withSecondHalf(word string) string {
	for _, sign := range timesSigns {
		if a, ok := strings.CutSuffix(word, sign); ok && isNumber(a) {
			return a + ":"
		}
	}
	return word
}

// withColon returns a word such as "3x1" or "6/4" with a colon.
func withColon(word string) string {
	for _, sign := range timesSigns {
		if a, b, ok := strings.Cut(word, sign); ok && isNumber(a) && isNumber(b) {
			return a + ":" + b
		}
	}
	if a, b, ok := strings.Cut(word, "/"); ok && isNumber(a) && isNumber(b) && word != "1/2" { // which may be a half
		return a + ":" + b
	}
	return word
}
