package command

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MayNamePlayers is true if the arguments have words or quotes that could be plain names of players, or a mention that may be a username and
// a number. Words such as "gg" could, but hardly
// are: see LikelyNamesPlayers.
func (c Command) MayNamePlayers() bool {
	isOther := func(a atom) bool { return !isScoreWord(a.text) }
	return slices.ContainsFunc(atoms(c.Args), isOther) || len(c.quotes()) > 0 || c.mayTouchScore()
}

// LikelyNamesPlayers is true if the arguments have quotes, or words that have no other meaning in a report, or that people are called as
// well.
func (c Command) LikelyNamesPlayers() bool {
	return slices.ContainsFunc(atoms(c.Args), func(a atom) bool {
		return !isScoreWord(a.text) && (meaningOf(a.text) == unknown || namesToo[strings.ToLower(a.text)])
	}) || len(c.quotes()) > 0
}

// plainName is a place in the arguments where a player may be meant by name.
type plainName struct {
	start, end int
	word       string   // without quotes
	people     []Person // who has the name; nobody if it is unknown
	isOptional bool     // the words have another meaning as well
}

// parseNames reads the arguments of a report in which people may be named without a mention.
func (p parser) parseNames(c Command, names *Names) (Report, error) {
	report, err := p.choose(c, names, names.find(c, true))
	if err == nil {
		return report, nil
	}
	// "bob 2 1" may be about Bob, even if somebody is called Bob 2.
	if shorter, err := p.choose(c, names, names.find(c, false)); err == nil {
		return shorter, nil
	}
	return report, err
}

// choose reads the arguments with the names in them, in all ways to understand the names.
func (p parser) choose(c Command, names *Names, found []plainName) (Report, error) {
	isUnknown := func(n plainName) bool { return len(n.people) == 0 }
	known := slices.DeleteFunc(slices.Clone(found), isUnknown)
	if len(known) == len(found) {
		return p.each(c, found)
	}
	// Only if the report is complete with somebody instead of the unknown word is it a name.
	var words []string
	withStrangers := slices.Clone(found)
	for i, n := range found {
		if isUnknown(n) {
			withStrangers[i].people = []Person{{UserID: -1 - int64(i)}}
			words = append(words, n.word)
		}
	}
	if _, err := p.each(c, withStrangers); err != nil {
		return p.each(c, known)
	}
	if len(words) > maxUnknown {
		return Report{}, formError(ReasonUnknownName, words[0])
	}
	withNear := slices.Clone(found)
	most := plainName{word: words[0]} // the name that tells the readings apart
	for i, n := range withNear {
		if !isUnknown(n) {
			continue
		}
		withNear[i].people = names.near(foldName(n.word))
		switch count := len(withNear[i].people); {
		case count == 0:
			return Report{}, formError(ReasonUnknownName, n.word)
		case count > max(1, len(most.people)):
			most = withNear[i]
		}
	}
	report, err := p.each(c, withNear)
	if err != nil { // as when the only one with a similar name plays already
		return Report{}, formError(ReasonUnknownName, words[0])
	}
	if slices.ContainsFunc(atoms(c.Args), func(a atom) bool { return isSlavicVerb(a.text) }) {
		report = report.orMirrored() // the word may be a name in another case: "Аню обыграл Дима"
	}
	report.Doubt, report.Word = DoubtUnknownName, most.word
	return report, nil
}

// maxUnknown is how many unknown names of a report are compared with those of all players.
const maxUnknown = 3

// maxChoices is the maximum number of ways to understand names that are tried, and maxManyChoices if there are more than manyNames.
const (
	maxChoices     = 64
	manyNames      = 4 * MaxTeam
	maxManyChoices = MaxReadings
)

// each reads the arguments with each choice of people for the names, and without those that have another meaning.
func (p parser) each(c Command, found []plainName) (Report, error) {
	var all Report
	var first []int // the choice of the first reading
	var firstErr error
	choice := make([]int, len(found)) // indexes of people, -1 for none
	for i, n := range found {
		if n.isOptional {
			choice[i] = -1
		}
	}
	most, tried := maxChoices, false
	if len(found) > manyNames {
		most = maxManyChoices
	}
	for i := 0; i < most && !tried; i++ {
		switch report, err := p.parse(c.naming(found, choice)); {
		case err != nil && firstErr == nil:
			firstErr = err
		case err != nil:
		case first == nil:
			all, first = report, slices.Clone(choice)
		case all.or(report):
			at := 0
			for choice[at] == first[at] {
				at++
			}
			all.Doubt, all.Word = DoubtName, found[at].word
		}
		tried = !nextChoice(found, choice)
	}
	switch {
	case first == nil:
		return Report{}, firstErr
	case !tried && all.Doubt == DoubtNone: // it may mean something else as well
		at := slices.IndexFunc(found, func(n plainName) bool { return n.isOptional || len(n.people) > 1 })
		all.Doubt, all.Word = DoubtName, found[at].word
	}
	return all, nil
}

// nextChoice turns a choice into the next one. It reports false after the last one.
func nextChoice(found []plainName, choice []int) bool {
	for i := len(choice) - 1; i >= 0; i-- {
		if choice[i]++; choice[i] < len(found[i].people) {
			return true
		}
		choice[i] = 0
		if found[i].isOptional {
			choice[i] = -1
		}
	}
	return false
}

// naming returns the command with the chosen people as mentions instead of their names.
func (c Command) naming(found []plainName, choice []int) Command {
	named := c
	var args strings.Builder
	named.Mentions, named.MentionOffsets = nil, nil
	done, added := 0, 0
	mentions := func(before int) {
		for ; added < len(c.Mentions) && c.MentionOffsets[added] <= before; added++ {
			named.Mentions = append(named.Mentions, c.Mentions[added])
			named.MentionOffsets = append(named.MentionOffsets, args.Len()+c.MentionOffsets[added]-done)
		}
	}
	for i, n := range found {
		if choice[i] < 0 {
			continue
		}
		mentions(n.start)
		args.WriteString(c.Args[done:n.start])
		named.Mentions = append(named.Mentions, n.people[choice[i]])
		named.MentionOffsets = append(named.MentionOffsets, args.Len())
		args.WriteByte(' ')
		done = n.end
	}
	mentions(len(c.Args))
	args.WriteString(c.Args[done:])
	named.Args = args.String()
	return named
}

// find returns the names in the arguments, and the unknown words that may be names. Of several names that begin at the same word, it is the
// longest one, unless it ends with a number and numbers is false. A name with an @ is one if somebody has it: Telegram marks no mention that
// is too short for a username, as in "@bob".
func (n *Names) find(c Command, numbers bool) []plainName {
	var found []plainName
	all, quoted := atoms(c.Args), c.quotes()
	for i := 0; i < len(all); {
		if len(quoted) > 0 && all[i].start >= quoted[0].start {
			end := i
			for end < len(all) && all[end].end <= quoted[0].end {
				end++
			}
			if name, ok := n.quoted(c, quoted[0], all[i:end]); ok {
				found, i = append(found, name), end
			}
			quoted = quoted[1:]
			continue
		}
		if c.isMarked(all[i]) {
			if name := n.name(c, all[i:i+1], all[i].start-len("@"), all[i].end); len(name.people) > 0 {
				found = append(found, name)
			}
			i++
			continue
		}
		if c.isEmoticon(all[i]) {
			i++
			continue
		}
		count, isKnown := n.longestName(c, all[i:], numbers)
		if !isKnown {
			count = n.unknownName(c, all[i:], numbers)
		}
		if count == 0 {
			i++
			continue
		}
		of := all[i : i+count]
		name := n.name(c, of, of[0].start, of[count-1].end)
		name.isOptional = isReadable(of)
		found, i = append(found, name), i+count
	}
	return found
}

// name returns the name that consists of atoms.
func (n *Names) name(c Command, of []atom, start, end int) plainName {
	word := c.Args[of[0].start:of[len(of)-1].end]
	return plainName{start: start, end: end, word: word, people: n.named(foldName(word))}
}

// quoted returns the name in quotes. ok is false if the quotes are around words that are no name.
func (n *Names) quoted(c Command, q quote, of []atom) (name plainName, ok bool) {
	if len(of) == 0 {
		return name, false
	}
	name = n.name(c, of, q.start, q.end)
	return name, len(name.people) > 0 || !isReadable(of)
}

// longestName returns how many atoms the longest known name has that begins with the first one.
func (n *Names) longestName(c Command, of []atom, numbers bool) (count int, ok bool) {
	var key strings.Builder
	hasWord := false
	for i, a := range of[:min(len(of), n.longest)] {
		if i > 0 && !c.continues(of[i-1], a) || c.isMarked(a) {
			break
		}
		if i > 0 {
			key.WriteByte(' ')
		}
		key.WriteString(fold(a.text))
		isScore := isScoreWord(a.text)
		hasWord = hasWord || !isScore
		if hasWord && (numbers || !isScore) && len(n.named(key.String())) > 0 {
			count = i + 1
		}
	}
	return count, count > 0
}

// unknownName returns how many atoms are unknown words, until a known name begins.
func (n *Names) unknownName(c Command, of []atom, numbers bool) int {
	for i, a := range of {
		if i > 0 && !c.continues(of[i-1], a) || c.isMarked(a) || isReadable(of[i:i+1]) || countWords[strings.ToLower(a.text)] {
			return i
		}
		if _, isKnown := n.longestName(c, of[i:], numbers); isKnown {
			return i
		}
	}
	return len(of)
}

// continues is true if one name may contain both of two neighbouring atoms: white space or emoji are between them, a full stop with white
// space behind it, or a sign without any.
func (c Command) continues(a, b atom) bool {
	if c.mentionsBefore(a.end) != c.mentionsBefore(b.start) {
		return false
	}
	gap := c.Args[a.end:b.start]
	if strings.Contains(gap, "\n") {
		return false
	}
	spaces := strings.TrimFunc(strings.TrimPrefix(gap, "."), func(r rune) bool { return isSpace(r) || isDecoration(r) && unicode.IsSymbol(r) })
	return spaces == "" || len(gap) == 1 && strings.Contains("-/&+|", gap)
}

// isMarked is true if an @ stands before an atom: it is a mention that Telegram has not marked.
func (c Command) isMarked(a atom) bool { return strings.HasSuffix(c.Args[:a.start], "@") }

// isEmoticon is true if an atom is the letter in a smiley such as ":D".
func (c Command) isEmoticon(a atom) bool {
	before := strings.TrimRightFunc(c.Args[:a.start], func(r rune) bool { return !isSpace(r) })
	eyes, after := c.Args[len(before):a.start], c.Args[a.end:]
	return eyes != "" && meaningOf(eyes+a.text+after[:indexOrLen(after, isSpace)]) != unknown
}

// isReadable is true if atoms have a meaning in a report without being names.
func isReadable(of []atom) bool {
	return !slices.ContainsFunc(of, func(a atom) bool { return meaningOf(a.text) == unknown && !isScoreWord(a.text) })
}

// isScoreWord is true if a word can only be part of a score: a number in any script, or "3x1".
func isScoreWord(word string) bool {
	return isNumber(strings.ReplaceAll(withColon(word), ":", "")) ||
		strings.TrimFunc(word, func(r rune) bool { return unicode.IsNumber(r) || unicode.IsMark(r) }) == ""
}

// quote is a place in the arguments that is enclosed in quotes, with them.
type quote struct{ start, end int }

// closing are the quotes that can end what a quote begins.
var closing = map[rune]string{
	'"': `"”`, '\'': `'’`, '“': `”"`, '”': `”`, '„': `“”"`, '‘': `’'`, '‚': `‘’'`, '«': `»`, '»': `«`,
}

// quotes returns what is enclosed in quotes at the edges of words.
func (c Command) quotes() []quote {
	var all []quote
	afterWord := false
	for i := 0; i < len(c.Args); {
		r, size := utf8.DecodeRuneInString(c.Args[i:])
		if ends := closing[r]; ends != "" && !afterWord {
			if length := enclosed(c.Args[i+size:], ends); length > 0 && c.mentionsBefore(i) == c.mentionsBefore(i+size+length) {
				all = append(all, quote{i, i + size + length})
				i += size + length
				afterWord = true
				continue
			}
		}
		afterWord = !isBreak(r) && r != '('
		i += size
	}
	return all
}

// enclosed returns the length of the text before the first closing quote at the end of a word, with the quote; 0 if there is none in the
// line.
func enclosed(s, ends string) int {
	for i, r := range s {
		if r == '\n' {
			return 0
		}
		after := i + utf8.RuneLen(r)
		if i > 0 && strings.ContainsRune(ends, r) && atomLength(s[after:]) == 0 {
			return after
		}
	}
	return 0
}
