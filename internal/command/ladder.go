package command

import (
	"slices"
	"strings"
	"unicode"
)

// CanNameLadder is true if a name can stand in front of the arguments of a command without meaning anything else there: it has a letter, none
// of the signs of mentions, commands and scores, and no word that says who won, on which day, or which part of a view is meant.
func CanNameLadder(name string) bool {
	if !strings.ContainsFunc(name, unicode.IsLetter) || strings.ContainsAny(name, "@#/:<>\n") {
		return false
	}
	return !slices.ContainsFunc(strings.Fields(name), func(word string) bool {
		switch strings.ToLower(word) {
		case "new", "use", "rename", "archive", "last", "all", "month", "season", "on", "off", "help":
			return true
		}
		return commandOutcomes[strings.ToLower(word)] != unknown || meaningOf(word) != unknown && meaningOf(word) != filler
	})
}

// IsFiller is true if all words of a text can never matter, such as the name of a game.
func IsFiller(text string) bool {
	return !slices.ContainsFunc(strings.Fields(text), func(word string) bool { return meaningOf(word) != filler })
}

// LadderAfter returns what a /fix says after the number of a match, if that may be the name of a ladder. The number is 0 if there is none.
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

// FirstWords returns the first words of the arguments, at most n of them, with a space between. There are none after a mention.
func (c Command) FirstWords(n int) string {
	args := c.Args
	if len(c.MentionOffsets) > 0 {
		args = args[:min(len(args), max(0, c.MentionOffsets[0]))]
	}
	words := strings.Fields(args)
	return strings.Join(words[:min(n, len(words))], " ")
}

// WithoutWords returns the command without the first n words of its arguments, which no mention is among.
func (c Command) WithoutWords(n int) Command {
	rest := c.Args
	isWritten := func(r rune) bool { return !unicode.IsSpace(r) }
	for range n {
		rest = strings.TrimLeftFunc(rest, isWritten)
		rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
	}
	cut := len(c.Args) - len(rest)
	c.Args, c.MentionOffsets = rest, slices.Clone(c.MentionOffsets)
	for i := range c.MentionOffsets {
		c.MentionOffsets[i] = max(0, c.MentionOffsets[i]-cut)
	}
	return c
}
