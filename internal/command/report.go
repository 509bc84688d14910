package command

import (
	"slices"
	"strings"
	"unicode/utf8"

	"elobot/internal/ladder"
)

// parser reads the words of one command.
type parser struct {
	sender, replied Person
	picked          []ladder.PlayerID // as in Command
	// said is the sender's outcome according to the command's name: won, lost, drew, or unknown.
	said   meaning
	isOpen bool // it is unclear who won, whatever the words say
}

func newParser(c Command) parser {
	p := parser{sender: c.Sender, said: commandOutcomes[c.Written], picked: c.Picked}
	if c.Reply != nil {
		p.replied = *c.Reply
	}
	return p
}

// senderPlays reports whether the sender can be one of the players. It is false for an anonymous
// admin.
func (p parser) senderPlays() bool { return p.sender.isKnown() && !p.sender.IsBot }

// line is what was read from one line of a report, from a part of a line, or from a whole report.
type line struct {
	words  []word
	scores scoreText
	people []Person
	pieces []piece // the people, and the words that may affect who won, in order
	// said is the sender's outcome as the command's name or the previous result states it, or
	// unknown.
	said meaning
	// isOfSender means that the sender is the unwritten subject: "I beat @bob 3:1 and lost to
	// @carol 1:3".
	isOfSender bool
	names      bool  // a word stands for the sender
	joined     []int // the indexes of people whom "and" joins to the person before
	isPast     bool  // the match was played on an earlier day
	isOpen     bool  // it is unclear who won, whatever the words say
	isEarly    bool  // the match ended early or was not played
	isLate     bool  // the match went to extra time or penalties
}

// parse reads a report in which each name is already a placeholder.
func (p parser) parse(t text) (Report, error) {
	lines, err := p.lines(t)
	if err != nil {
		return Report{}, err
	}
	report, err := p.each(lines)
	if m, ok := table(lines); ok && err == nil {
		report.or(Report{Readings: []Reading{{m}}})
		report.Doubt, report.Word = DoubtResults, ""
	}
	return report, err
}

// table returns a match of two sets that is written as one row of points for each person: "@bob 6
// 4" above "@carol 3 6".
func table(lines []line) (m Match, ok bool) {
	isRow := func(l line) bool {
		all := l.scores.numbers
		return len(l.people) == 1 && len(l.pieces) == 1 && len(all) == 2 && all[0].separator == "" &&
			all[1].separator == "" && all[0].at == 1
	}
	if len(lines) != 2 || !isRow(lines[0]) || !isRow(lines[1]) || lines[0].said != unknown {
		return Match{}, false
	}
	a, b := lines[0], lines[1]
	for i, n := range a.scores.numbers {
		m.Scores = append(m.Scores, ladder.Score{A: value(n.text), B: value(b.scores.numbers[i].text)})
	}
	isTie := func(s ladder.Score) bool { return s.A == s.B }
	m.A, m.B = a.people, b.people
	return m, !slices.ContainsFunc(m.Scores, isTie) && checkPeople(slices.Concat(m.A, m.B)) == nil
}

// each reads the lines of a report, which may each have several results. If a result takes its
// outcome from the previous one, and only one of their scores has its larger number first, as in
// "lost to @bob 1:3 and @carol 3:1", it is unclear who won the second match.
func (p parser) each(lines []line) (Report, error) {
	var all Report
	for i, l := range lines {
		if i > 0 && l.said != unknown {
			l.isOpen = l.isOpen || lines[i-1].isOpen || l.winsFirst() != lines[i-1].winsFirst()
			lines[i].isOpen = l.isOpen
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

// winsFirst reports whether the first score has its larger number first.
func (l line) winsFirst() bool {
	all := l.scores.numbers
	return len(all) > 1 && value(all[0].text) > value(all[1].text)
}

// lines reads all words of a report. If the report has at least four numbers, and at least two of
// its lines have both people and numbers, lines returns each line that has people, numbers, a
// versus or an outcome. Otherwise it returns the whole text as one line.
func (p parser) lines(t text) ([]line, error) {
	whole, err := p.line(t)
	if err != nil || len(whole.scores.numbers) < 4 {
		return []line{whole}, err
	}
	var all []line
	isPast, complete := false, 0
	for _, t := range t.lines() {
		l, err := p.line(t)
		if err != nil {
			return nil, err
		}
		hasPeople, hasNumbers := len(l.people) > 0, len(l.scores.numbers) > 0
		if hasPeople && hasNumbers {
			complete++
		}
		// The line may be about the results below: "@bob lost to".
		l.isOpen = l.isOpen || !hasNumbers && len(l.all(won, lost)) > 0
		if hasPeople || hasNumbers || len(l.all(versus, won, lost, drew)) > 0 {
			all = append(all, l)
		} else {
			isPast = isPast || l.isPast // "yesterday:" is about all results
		}
	}
	if complete < 2 {
		return []line{whole}, nil
	}
	var leads, isOfOther bool
	for i, l := range all {
		mayContinue := leads && !l.hasClaim() && l.winsFirst() || isOfOther && l.isWithoutSubject()
		all[i].isOpen, all[i].isPast = l.isOpen || mayContinue && p.said == unknown, l.isPast || isPast
		// "lost to @bob 3:1" has the winner's points first, and so may the lines below.
		leads = leads || l.winsFirst() && l.ofSender(p.sender) == lost
		// The winner in the lines below "@bob lost to @carol 1:3" may be Bob.
		isOfOther = isOfOther && l.isWithoutSubject() || len(l.people) > 1 && !l.names
	}
	return all, nil
}

// isWithoutSubject reports whether a line names only one person, who is the object, and no subject.
func (l line) isWithoutSubject() bool {
	return len(l.people) == 1 && !l.names && slices.ContainsFunc(l.all(won, lost, versus), func(p piece) bool {
		return l.people[0].Oblique || p.at == 0 && (p.meaning == versus || !p.isOf(others, several))
	})
}

// line reads a text as one line.
func (p parser) line(t text) (line, error) {
	l, err := p.read(t.words())
	_, answer, _ := strings.Cut(t.written, "?")
	// In "@bob beat @carol? 3:1", the words only ask who won.
	l.isOpen = l.isOpen || isQuestion(t.written) || l.hasClaim() && strings.ContainsFunc(answer, isDigit)
	return l, err
}

func (p parser) read(words []word) (line, error) {
	l := line{words: words, said: p.said, isOfSender: p.said != unknown, scores: scoreText{numbers: make([]number, 0, 2)}}
	// named reports whether a person precedes the word, with only minor words between them. pauses
	// and joins report whether there has been a pause, or an "and", since the last person. greets
	// reports whether a greeting directly precedes the word, and isGreeted whether one directly
	// preceded the last person.
	var named, pauses, joins bool
	var greets, isGreeted bool
	has := make(map[meaning]bool)
	for i, w := range words {
		next := following(words[i+1:])
		w.meaning = l.meaningOf(w, next, named)
		pauses = pauses || hasPause(w.before)
		if w.isPerson() {
			l.addPerson(p.personOf(w), w, pauses, joins)
			named, pauses, joins = true, false, false
			has[w.meaning] = true
			isGreeted, greets = greets && !hasPause(w.before), false
			continue
		}
		has[w.meaning] = true
		if err := l.add(w, next, named, pauses || isGreeted); err != nil {
			return line{}, err
		}
		joins, greets = joins || w.meaning == and, w.meaning == greeting && !hasPause(w.typed)
		pauses = pauses || hasPause(w.typed) || w.typed == "-"
		named = named && w.meaning.isMinor()
	}
	l.isPast, l.isEarly, l.isLate = has[past], has[early], has[afterTime]
	l.isOpen = p.isOpen || (has[oneSet] || has[standInOpen] || has[past] && has[present]) && l.hasClaim()
	if l.missesSender() {
		at := slices.IndexFunc(words, func(w word) bool { return w.meaning.isWith() })
		return p.read(slices.Insert(slices.Clone(words), at, word{string: "i", meaning: me}))
	}
	return l, nil
}

// personOf returns the person that a word names: a stand-in, the sender for a word such as "me", or
// the person who is mentioned or named.
func (p parser) personOf(w word) Person {
	switch {
	case w.meaning.isStandIn():
		return Person{Name: w.string, IsStandIn: true, Oblique: w.meaning == standInOblique}
	case w.person == nil:
		return p.sender
	}
	return w.person.identify(p.sender).identify(p.replied)
}

// addPerson adds a person. A pause sets the person apart from the previous person, and so does a
// word for the sender, unless "and" joins the two. An "and" also cancels the pauses earlier in the
// list, as in "@alice, @bob and @carol". In "@bob, I beat @carol", Bob is only addressed.
func (l *line) addPerson(p Person, w word, pauses, joins bool) {
	for i := len(l.pieces) - 1; joins && i >= 0; i-- { // "@alice, @bob and @carol"
		if before := &l.pieces[i]; before.isSide && before.isApart {
			before.isApart = false
		} else if before.isSide {
			break
		}
	}
	isSender := w.meaning.isSender()
	isApart := !joins && len(l.people) > 0 && (isSender || pauses)
	l.pieces = append(l.pieces, piece{
		word: w, isSide: true, isSender: isSender, isApart: isApart,
		isOblique: p.Oblique, isWhom: p.Whom, isWoman: isWoman(p.Name), isMan: isMan(p.Name),
	})
	l.people, l.names = append(l.people, p), l.names || isSender
}

// missesSender reports whether the sender has a teammate but is left out:
// "mit @carol gegen @bob und @dave gewonnen".
func (l line) missesSender() bool {
	isWith := func(p piece) bool { return p.meaning.isWith() && p.at == 0 }
	isBetween := func(p piece) bool {
		return 0 < p.at && p.at < len(l.people) && (p.meaning == versus || over <= p.meaning && p.meaning <= to)
	}
	return !l.names && slices.ContainsFunc(l.pieces, isWith) && slices.ContainsFunc(l.pieces, isBetween)
}

// all returns the pieces that are words with one of these meanings.
func (l line) all(meanings ...meaning) []piece {
	return slices.DeleteFunc(slices.Clone(l.pieces),
		func(p piece) bool { return p.isSide || !slices.Contains(meanings, p.meaning) })
}

// claims returns the words that state an outcome.
func (l line) claims() []piece { return l.all(won, lost, drew) }

// hasClaim reports whether the line, the command or the previous result states an outcome.
func (l line) hasClaim() bool { return l.said != unknown || len(l.claims()) > 0 }

// isQuestion reports whether a text ends with a question about a result: "@bob beat @carol 3:1?"
func isQuestion(text string) bool {
	said := strings.TrimRightFunc(text,
		func(r rune) bool { return isSpace(r) || strings.ContainsRune("!?"+placeholder, r) })
	last := said[strings.LastIndexFunc(said, isSpace)+1:]
	isClaim := meaningOf(last) == won || meaningOf(last) == lost
	return (endsWithDigit(said) || isClaim) && strings.Contains(text[len(said):], "?")
}

// hasPause reports whether a text contains punctuation that marks a pause.
func hasPause(text string) bool { return strings.ContainsAny(text, ".,;:!?…()[]–—\n") }

// isEnclosed reports whether a word is in brackets of its own.
func isEnclosed(word string) bool {
	return strings.ContainsAny(word[:1], "([") && strings.ContainsAny(word[len(word)-1:], ")]")
}

// add adds a word that names no person. named reports whether a person directly precedes it. pauses
// reports whether a pause separates them or a greeting precedes that person.
func (l *line) add(w word, next following, named, pauses bool) error {
	p := piece{word: w, at: len(l.people), isNamed: named, isApart: named && pauses}
	switch w.meaning {
	case filler, game, greeting, the, oneSet, past, present, early, afterTime:
	case and:
		if named && next.next().isPerson() {
			l.joined = append(l.joined, len(l.people))
		}
	case won, lost, drew:
		p.verbs = verbs[strings.ToLower(w.string)]
		if len(l.people) == 0 && p.isOf(several) { // the people who won or lost are not named
			return formError(ReasonUnexpectedWord, w.string)
		}
		l.pieces = append(l.pieces, p)
	case clock:
		return formError(ReasonUnexpectedWord, w.string)
	case separator:
		return l.scores.add(":", len(l.people))
	case unknown:
		return l.addScore(w, next, named)
	default:
		l.pieces = append(l.pieces, p)
	}
	return nil
}

// addScore adds a word without a meaning of its own, which must be part of a score. named reports
// whether a person directly precedes it.
func (l *line) addScore(w word, next following, named bool) error {
	s := w.string
	if named && !l.scores.afterNumber { // "@bob:3:1" and "@bob:3"
		if rest := strings.TrimLeftFunc(s, isColon); startsWithDigit(rest) {
			s = rest
		}
	}
	if isOfSide := named && next.next().isPerson(); !isOfSide { // "@bob ½ @carol ½"
		s = l.scores.withDraw(s, next.next().string)
	}
	l.scores.isEnclosed = isEnclosed(w.typed)
	return l.scores.add(withColon(s, next.isNumber()), len(l.people))
}

// commandOutcomes maps the names of commands to the sender's outcome.
var commandOutcomes = map[string]meaning{NameWon: won, "win": won, NameLost: lost, "lose": lost, NameDraw: drew}

// finals are rounds of a tournament if a word in finalWords follows. Otherwise they are scores.
var (
	finals     = wordSet(`1/2 1/4 1/8`)
	finalWords = wordSet(`final finals finale финал финала финале финалу фінал фіналу фіналі finais`)
)

// onlyNegated are words that mean an early end only with a negation: "не доиграли".
var onlyNegated = wordSet(`доиграли дограли comparecimento`)

// isNegated reports whether a negation directly precedes the current word. behind has the words
// after it.
func (l *line) isNegated(behind following) bool {
	at := len(l.words) - len(behind) - 2
	return at >= 0 && l.words[at].meaning == not
}

// isDefault has the words for beating an opponent that mean a default if a score precedes them and
// no person follows.
var isDefault = wordSet(`def Def DEF d D`)

// elsewhere maps the meaning of an ambiguous word to the meaning that applies if the context gives
// no other.
var elsewhere = map[meaning]meaning{
	separator: to, times: versus, clock: of, clockOrMarker: marker, joy: mood, we: pronoun, heOrHave: pronoun,
}

// meaningOf returns the meaning of a word in its context. named reports whether a person directly
// precedes it.
func (l *line) meaningOf(w word, behind following, named bool) meaning {
	m, next := w.meaning, behind.next()
	switch {
	case m.isColon() && l.scores.afterNumber && behind.isNumber():
		return separator
	case (m == clock || m == clockOrMarker) && behind.isNumber():
		return clock
	case isSign(w.string):
		return l.meaningOfSign(behind, named)
	case m == not && next.meaning == game:
		return filler // "no xadrez"
	case m == joy && !named && !next.isPerson():
		return filler // no person is beside it, so it shows only that the sender is glad
	case m == we && next.meaning.isWith():
		return me
	case m == heOrHave && next.isParticiple():
		return auxiliary
	case finals[w.string] && finalWords[strings.ToLower(next.string)]:
		return filler // "1/2 финал"
	case m == early && onlyNegated[strings.ToLower(w.string)] != l.isNegated(behind):
		return filler // "no walkover", "доиграли"
	case (m == not || m == pronoun || m == clitic) && (next.meaning == early || next.meaning == afterTime):
		return filler // "не доиграли", "nos pênaltis", "la prórroga"
	case m == won && isDefault[w.string] && l.scores.afterNumber && !slices.ContainsFunc(behind, word.isPerson):
		return early
	case m == clitic && next.isPerson():
		m = article
	}
	if other, ok := elsewhere[m]; ok {
		m = other
	}
	// In "@bob by 3:1", the preposition is not a filler.
	isShare := m == of && named && behind.isNumber() && len(l.people) == 1 && !l.hasClaim()
	if over <= m && m <= article && !behind.isObject() && !isShare {
		return filler
	}
	return m
}

// meaningOfSign returns the meaning of a colon or a dash: versus between two people, filler as
// punctuation, or unknown as part of a score.
func (l *line) meaningOfSign(behind following, named bool) meaning {
	next := behind.next()
	isBeforeWord := next.person == nil && next.meaning.isMinor() && !next.meaning.isColon()
	switch {
	case named && next.person != nil:
		return versus
	case named, len(l.people)+len(l.scores.numbers) == 0 && !behind.isNumber(), l.scores.afterNumber && isBeforeWord:
		return filler
	default:
		return unknown
	}
}

// isSign reports whether a word is a colon or a dash.
func isSign(s string) bool {
	r, size := utf8.DecodeRuneInString(s)
	return size == len(s) && isSeparator(r)
}

// timesSigns are the letters and signs that stand for "times" between two numbers.
const timesSigns = "xXхХ×"

// withColon replaces the sign in a word such as "3x1" or "6/4" with a colon, and also in "3x"
// before another number. It writes fractions with ½.
func withColon(word string, isBeforeNumber bool) string {
	if strings.ContainsAny(word, "/.,") { // the regular expression is slower
		word = fractions.ReplaceAllString(word, "${1}½${2}${3}½")
	}
	at := strings.IndexAny(word, timesSigns+"/")
	if at < 0 || word == oneTwo {
		return word
	}
	_, size := utf8.DecodeRuneInString(word[at:])
	a, sign, b := word[:at], word[at:at+size], word[at+size:]
	if isPoints(a) && (isPoints(b) || b == "" && isBeforeNumber && sign != "/") {
		return a + ":" + b
	}
	return word
}
