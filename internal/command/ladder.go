package command

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// CanNameLadder reports whether a text may be the name of a ladder at the beginning of a command's
// arguments. It must have a letter, and none of certain signs, such as "@" and ":". None of its
// words may be an option such as "last", a span such as "today" or "everyone", or a word with a
// meaning in reports such as "won". Other fillers are allowed.
func CanNameLadder(name string) bool {
	if !strings.ContainsFunc(name, unicode.IsLetter) || strings.ContainsAny(name, "@#/:<>,;.!?|\n") {
		return false
	}
	return !slices.ContainsFunc(strings.Fields(strings.ToLower(name)), func(word string) bool {
		m := meaningOf(word)
		return viewWords[word] || spans[word] != "" || commandOutcomes[word] != unknown || m != unknown && !m.isFiller()
	})
}

// viewWords are words that commands other than reports read as options, as in /ranking all.
var viewWords = wordSet(`new use none rename archive last all month season on off help`)

// IsFiller reports whether all words of a text are fillers. Greetings and names of games count as
// fillers.
func IsFiller(text string) bool {
	return !slices.ContainsFunc(strings.Fields(text), func(word string) bool { return !meaningOf(word).isFiller() })
}

// LadderAfter returns the match number of a /fix, or 0 if none is given, and the text after the
// number as name. ok reports whether name may be the name of a ladder. If no match can have the
// number, LadderAfter returns 0 and an empty name.
func LadderAfter(c Command) (number int, name string, ok bool) {
	words := fields(c.Args)
	if namesMatch(words) {
		if number, _ = matchNumber(words[0]); number == 0 {
			return 0, "", false
		}
		words = words[1:]
	}
	name = strings.Join(words, " ")
	return number, name, len(c.Mentions) == 0 && CanNameLadder(name)
}

// FirstWords returns the first words of the arguments, at most n, joined by spaces and without
// trailing colons, commas, periods and exclamation marks. It stops at a mention.
func (c Command) FirstWords(n int) string { return firstWords(c.Args, n) }

// LaterWords returns the first words of each line after the first, as FirstWords does. It skips a
// command at the beginning of a line.
func (c Command) LaterWords(n int) (all []string) {
	for _, start := range c.laterLines() {
		line, _, _ := strings.Cut(c.Args[start:], "\n")
		all = append(all, firstWords(line, n))
	}
	return all
}

func firstWords(line string, n int) string {
	line, _, _ = strings.Cut(line, placeholder)
	words := strings.Fields(line)
	words = words[:min(n, len(words))]
	for i := range words {
		words[i] = strings.TrimRight(words[i], ":,.!")
	}
	return strings.Join(words, " ")
}

// repeatedCommand matches a command at the beginning of a line, which most likely repeats the
// command of the message.
var repeatedCommand = regexp.MustCompile(`^[^\S\n]*/[A-Za-z]\w*(@\w+)?[^\S\n]?`)

// laterLines returns the index in the arguments at which each line after the first begins, or, if
// the line begins with a command, the index after that command.
func (c Command) laterLines() (starts []int) {
	for i, r := range c.Args {
		if r == '\n' {
			starts = append(starts, i+1+len(repeatedCommand.FindString(c.Args[i+1:])))
		}
	}
	return starts
}

// WithoutWords returns the command without the first n words of its arguments, which become its
// Ladder, and without the first later[i] words of each later line i. None of the words may be a
// mention.
func (c Command) WithoutWords(n int, later ...int) Command {
	starts := c.laterLines()
	c.Ladder, c.MayNameLadder = c.FirstWords(n), false
	for i := len(later) - 1; i >= 0; i-- {
		before, line := c.Args[:starts[i]], c.Args[starts[i]:]
		c.Args = before + withoutWords(line, later[i], func(r rune) bool { return r != '\n' && unicode.IsSpace(r) })
	}
	c.Args = withoutWords(c.Args, n, unicode.IsSpace)
	return c
}

func withoutWords(rest string, n int, isBlank func(rune) bool) string {
	isWritten := func(r rune) bool { return !unicode.IsSpace(r) && string(r) != placeholder }
	for range n {
		rest = strings.TrimLeftFunc(rest, isBlank)
		rest = strings.TrimLeftFunc(rest, isWritten)
		rest = strings.TrimLeftFunc(rest, isBlank)
	}
	return rest
}
