package command

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"elobot/internal/ladder"
)

// MayNamePlayers reports whether the arguments have words or quotes that could be plain names of
// players, or a mention that may be a username with a number typed directly after it. Unlike
// LikelyNamesPlayers, it is also true for words that are hardly ever names, such as "gg".
func (c Command) MayNamePlayers() bool {
	isWord := func(a atom) bool { return !isScoreWord(a.text) }
	return slices.ContainsFunc(atoms(c.Args), isWord) || len(c.text().quotes()) > 0 || c.text().mayTouchScore()
}

// LikelyNamesPlayers reports whether the arguments have quotes, words without another meaning, or
// words that are common names as well, or whether a line begins with the name of a game. "won" and
// "drew" are likely names only with a capital letter, because they stand in so many reports.
func (c Command) LikelyNamesPlayers() bool {
	isGame := func(word string) bool { return meaningOf(word) == game }
	return slices.ContainsFunc(append(c.LaterWords(1), c.FirstWord()), isGame) ||
		slices.ContainsFunc(atoms(c.Args), func(a atom) bool {
			isVerb := a.text == "won" || a.text == "drew"
			return !isScoreWord(a.text) && (meaningOf(a.text) == unknown || mayBeName(strings.ToLower(a.text)) && !isVerb)
		}) || len(c.text().quotes()) > 0
}

// plainName is a part of the arguments that may name a player.
type plainName struct {
	start, end int
	word       string   // without quotes
	people     []Person // the people who have the name; none if it is unknown
	isOptional bool     // the words have another meaning as well
}

// ways returns the number of ways to understand the name: one for each person who has it and, if
// the name is optional, one in which it is not a name.
func (n plainName) ways() int {
	if n.isOptional {
		return len(n.people) + 1
	}
	return len(n.people)
}

// parseNames reads a report. Unless names is nil, the report may have plain names of players.
func (p parser) parseNames(t text, names *Names) (Report, error) {
	if names == nil {
		return p.parse(t)
	}
	t = t.withScoresApart(names)
	report, err := p.choose(t, names, names.find(t, true))
	if err == nil {
		return report, nil
	}
	// "bob 2 1" may be about Bob, even if a player is called Bob 2.
	if shorter, err := p.choose(t, names, names.find(t, false)); err == nil {
		return shorter, nil
	}
	return report, err
}

// choose reads a text with the names found in it, as tryAll does. For an unknown name, it tries the
// players with similar names, and a new guest with that name.
func (p parser) choose(t text, names *Names, found []plainName) (Report, error) {
	isUnknown := func(n plainName) bool { return len(n.people) == 0 }
	at := slices.IndexFunc(found, isUnknown)
	if at < 0 {
		return p.tryAll(t, found)
	}
	// An unknown word is a name only if the report is complete with some person in its place.
	withStrangers, withNear := slices.Clone(found), slices.Clone(found)
	for i, n := range found {
		if isUnknown(n) {
			withStrangers[i].people = []Person{{ID: -1 - ladder.UserID(i)}}
		}
	}
	if _, err := p.tryAll(t, withStrangers); err != nil {
		return p.tryAll(t, slices.DeleteFunc(found, isUnknown))
	}
	for i, n := range found {
		if isUnknown(n) {
			withNear[i].people = names.near(foldName(n.word))
		}
	}
	// In a sentence such as "Аню обыграл Дима", the word may be declined. It is then not the name
	// of a new guest.
	p.isOpen = slices.ContainsFunc(atoms(t.written),
		func(a atom) bool { return slices.ContainsFunc(verbs[strings.ToLower(a.text)], verb.isSlavic) })
	word := found[at].word
	var report Report
	none := slices.IndexFunc(withNear, isUnknown)
	if none < 0 {
		report, _ = p.tryAll(t, withNear) // it fails if the only person with a similar name already plays
	}
	isOnly := !slices.ContainsFunc(found[at+1:], isUnknown)
	if isOnly && !p.isOpen && names.canBeGuest(word) {
		withStrangers[at].people = []Person{NewGuest(word)}
		guests, _ := p.tryAll(t, withStrangers)
		if len(guests.Readings) == 1 && guests.Readings[0].hasLikelyGuest() {
			report.or(guests)
		}
	}
	if len(report.Readings) == 0 {
		return Report{}, formError(ReasonUnknownName, found[max(at, none)].word)
	}
	report.Doubt, report.Word = DoubtUnknownName, word
	return report, nil
}

// tryAll reads a text with each choice of people for the names, and also without each name that has
// another meaning. It tries only the first combinations if there are very many.
func (p parser) tryAll(t text, found []plainName) (Report, error) {
	ways, most := 1, 64         // most limits how many ways are tried
	if len(found) > 4*MaxTeam { // too many for a match, even if each is named twice
		most = MaxReadings
	}
	for _, n := range found {
		ways = min(ways*n.ways(), most+1)
	}
	var all Report
	var firstErr error
	first := -1 // the first way that can be read
	for way := range min(ways, most) {
		switch report, err := p.parse(t.naming(found, way)); {
		case err != nil:
			firstErr = cmp.Or(firstErr, err)
		case first < 0:
			all, first = report, way
		case all.or(report):
			all.Doubt, all.Word = DoubtName, unclearName(found, first, way)
		}
	}
	switch {
	case first < 0:
		return Report{}, firstErr
	case ways > most && all.Doubt == DoubtNone: // an untried way may mean something else
		at := slices.IndexFunc(found, func(n plainName) bool { return n.ways() > 1 })
		all.Doubt, all.Word = DoubtName, found[at].word
	}
	return all, nil
}

// naming returns the text with one of the interpretations of its names, numbered from 0. The last
// name varies fastest. The first interpretation of an optional name is that it is not a name.
func (t text) naming(found []plainName, way int) text {
	var chosen []plainName
	for _, n := range slices.Backward(found) {
		choice := way % n.ways()
		way /= n.ways()
		if n.isOptional {
			choice--
		}
		if choice >= 0 {
			n.people = n.people[choice:]
			chosen = append(chosen, n)
		}
	}
	slices.Reverse(chosen)
	return t.with(chosen)
}

// unclearName returns the first name that means different things in the interpretations way and
// other.
func unclearName(found []plainName, way, other int) (word string) {
	for _, n := range slices.Backward(found) {
		if way%n.ways() != other%n.ways() {
			word = n.word
		}
		way, other = way/n.ways(), other/n.ways()
	}
	return word
}

// find returns the names in a text, and the unknown words that may be names. At each word it takes
// the longest name. Outside of quotes, it finds a name that ends with a number only if numbers is
// true. An @ before a name is part of it, because Telegram does not mark a short one such as "@bob"
// as a mention.
func (n *Names) find(t text, numbers bool) []plainName {
	var found []plainName
	all, quoted := atoms(t.written), t.quotes()
	for i := 0; i < len(all); {
		if len(quoted) > 0 && all[i].start >= quoted[0].start {
			end := i
			for end < len(all) && all[end].end <= quoted[0].end {
				end++
			}
			if of := all[i:end]; len(of) > 0 {
				name := n.name(t, of, quoted[0].start, quoted[0].end)
				if len(name.people) > 0 || !isReadable(of) || meaningOf(name.word).isStandIn() {
					found, i = append(found, name), end
				}
			}
			quoted = quoted[1:]
			continue
		}
		if t.isMarked(all[i]) {
			if name := n.name(t, all[i:i+1], all[i].start-len("@"), all[i].end); len(name.people) > 0 {
				found = append(found, name)
			}
			i++
			continue
		}
		count := cmp.Or(n.longestName(t, all[i:], numbers), n.unknownName(t, all[i:], numbers))
		if count == 0 || t.isEmoticon(all[i]) {
			i++
			continue
		}
		of := all[i : i+count]
		name := n.name(t, of, of[0].start, of[count-1].end)
		name.isOptional = isReadable(of) && (i > 0 || meaningOf(of[0].text) != game)
		found, i = append(found, name), i+count
	}
	return found
}

// name returns the name that the atoms form, with the people who have it. start and end include
// quotes or an @.
func (n *Names) name(t text, of []atom, start, end int) plainName {
	word := t.written[of[0].start:of[len(of)-1].end]
	return plainName{start: start, end: end, word: word, people: n.named(foldName(word))}
}

// longestName returns the number of atoms in the longest name of a player that begins with the
// first atom, or 0 if there is none. It skips names that consist only of numbers. numbers means the
// same as in find.
func (n *Names) longestName(t text, of []atom, numbers bool) (count int) {
	hasWord := false
	for i, a := range of[:min(len(of), n.longest)] {
		if i > 0 && !t.continues(of[i-1], a) {
			break
		}
		isScore := isScoreWord(a.text)
		hasWord = hasWord || !isScore
		if hasWord && (numbers || !isScore) && len(n.named(foldName(t.written[of[0].start:a.end]))) > 0 {
			count = i + 1
		}
	}
	return count
}

// unknownName returns the number of leading atoms that form a name that no player has. numbers
// means the same as in find.
func (n *Names) unknownName(t text, of []atom, numbers bool) int {
	for i, a := range of {
		isOther := isReadable(of[i:i+1]) || countWords[strings.ToLower(a.text)] || n.longestName(t, of[i:], numbers) > 0
		if isOther || i > 0 && !t.continues(of[i-1], a) {
			return i
		}
	}
	return len(of)
}

// continues reports whether two neighboring atoms can be part of one name. Between them there may
// be white space, symbols and a leading period, or a single sign as in "Jean-Luc". A line break or
// a placeholder separates them.
func (t text) continues(a, b atom) bool {
	gap := t.written[a.end:b.start]
	if strings.ContainsAny(gap, "\n"+placeholder) {
		return false
	}
	spaces := strings.TrimFunc(strings.TrimPrefix(gap, "."),
		func(r rune) bool { return isSpace(r) || isDecoration(r) && unicode.IsSymbol(r) })
	return spaces == "" || len(gap) == 1 && strings.Contains("-/&+|", gap)
}

// isMarked reports whether an @ precedes an atom. A mention that Telegram has marked is a
// placeholder instead.
func (t text) isMarked(a atom) bool { return strings.HasSuffix(t.written[:a.start], "@") }

// isEmoticon reports whether an atom is the letter in a smiley such as ":D", or a letter of "n.V.".
func (t text) isEmoticon(a atom) bool {
	const longest = 5 // bytes before the letter, and after it
	eyes, after := t.written[max(0, a.start-longest):a.start], t.written[a.end:min(a.end+longest, len(t.written))]
	eyes, after = eyes[strings.LastIndexFunc(eyes, isBreak)+1:], after[:indexOrLen(after, isBreak)]
	return eyes+after != "" && meaningOf(eyes+a.text+after) != unknown
}

// isReadable reports whether all atoms have a meaning in a report other than a name.
func isReadable(of []atom) bool {
	return !slices.ContainsFunc(of, func(a atom) bool { return meaningOf(a.text) == unknown && !isScoreWord(a.text) })
}

// isScoreWord reports whether a word can only be part of a score: a number of any script, or "3x1".
func isScoreWord(word string) bool {
	return isPoints(strings.ReplaceAll(withColon(word, false), ":", "")) ||
		strings.TrimFunc(word, func(r rune) bool { return unicode.IsNumber(r) || unicode.IsMark(r) }) == ""
}

// quotePattern matches quoted text at the beginning, after a break or after "(", and not directly
// before an ASCII letter, an ASCII digit or "_".
var quotePattern = regexp.MustCompile(`(?:^|[\s\pZ\p{Cf},;/|(\x{FFFC}])(` +
	strings.ReplaceAll(`"…["”]|'…['’]|“…[”"]|”…”|„…[“”"]|‘…[’']|‚…[‘’']|«…»|»…«`, "…", `[^\n\x{FFFC}]+?`) + `)\B`)

// quotes returns the places of quoted texts, including the quotes.
func (t text) quotes() (all []plainName) {
	for _, at := range quotePattern.FindAllStringSubmatchIndex(t.written, -1) {
		all = append(all, plainName{start: at[2], end: at[3]})
	}
	return all
}
