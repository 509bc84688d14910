package command

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	// maxCorrected is the maximum number of characters of a corrected command: Telegram's limit for a text to be copied.
	maxCorrected = 256
	// maxSlips is how many slips Correct corrects in one command.
	maxSlips = 3
)

// Correct returns a /match that says what a malformed one means, ready to be sent. ok is false if that is not clear, if it would leave out
// a word that is no filler, or if it cannot be written. The arguments are those of ParseMatch, and err is its error.
func Correct(c Command, sender Person, reply *Person, names *Names, err error) (text string, ok bool) {
	args, ok := c.written()
	if !ok {
		return "", false
	}
	return correct(c, args, err, func(c Command) (string, bool, error) {
		report, err := ParseMatch(c, sender, reply, names)
		if err != nil {
			return "", false, err
		}
		if report.Doubt != DoubtNone || len(report.Readings[0]) > 1 {
			return "", false, nil
		}
		text, ok := report.Readings[0][0].text(sender)
		return text, ok, nil
	})
}

// CorrectAmendment returns an /undo, /restore or /fix that says what a malformed one probably means, ready to be sent. It names the match,
// because it need not be sent as a reply. err is the error of the parser.
func CorrectAmendment(c Command, err error) (text string, ok bool) {
	if len(c.Mentions) > 0 {
		return "", false
	}
	return correct(c, c.Args, err, func(c Command) (string, bool, error) {
		var f Fix
		var err error
		if c.Name == NameFix {
			f, err = ParseFix(c)
		} else {
			f.Number, err = ParseNumber(c)
		}
		return "/" + c.Name + " " + strconv.Itoa(f.Number) + writtenScores(f.Scores), f.Number != 0, err
	})
}

// correct removes slips from the arguments of a malformed command until it can be read. read returns what to write instead of it, if that
// is clear, or else why the command is malformed.
func correct(c Command, args string, err error, read func(Command) (text string, ok bool, err error)) (text string, ok bool) {
	for range maxSlips {
		if args, ok = withoutSlip(args, err); !ok {
			return "", false
		}
		if text, ok, err = read(fromText(c, args)); err != nil {
			continue
		}
		if !ok || utf8.RuneCountInString(text) > maxCorrected {
			return "", false
		}
		return text, true
	}
	return "", false
}

// written returns the arguments with all mentions. ok is false if somebody is mentioned whose username is unknown: a copy would not mention
// them.
func (c Command) written() (args string, ok bool) {
	var b strings.Builder
	done := 0
	for i, p := range c.Mentions {
		if p.Username == "" || i >= len(c.MentionOffsets) {
			return "", false
		}
		b.WriteString(c.Args[done:c.MentionOffsets[i]] + " @" + p.Username + " ")
		done = c.MentionOffsets[i]
	}
	b.WriteString(c.Args[done:])
	return strings.TrimSpace(b.String()), true
}

// fromText returns the command with other arguments, in which every word with an @ is a mention.
func fromText(c Command, args string) Command {
	var entities []Entity
	units := 0
	for word := range strings.SplitAfterSeq(args, " ") {
		if name := strings.TrimRight(word, " "); len(name) > 1 && name[0] == '@' && isWord(name[1:]) {
			entities = append(entities, Entity{Kind: KindMention, Offset: units, Length: len(name)})
		}
		for _, r := range word {
			units += utf16.RuneLen(r)
		}
	}
	corrected := Text(c.Name, args, entities, "")
	corrected.Written = c.Written
	return corrected
}

// withoutSlip returns arguments without the slip that makes them malformed.
func withoutSlip(args string, err error) (corrected string, ok bool) {
	var form *FormError
	if !errors.As(err, &form) {
		return "", false
	}
	switch form.Reason {
	case ReasonUnexpectedWord:
		// A word that the bot does not understand may be the one that decides.
		at := strings.Index(args, form.Detail)
		if at < 0 || meaningOf(form.Detail) != filler {
			return "", false
		}
		corrected = args[:at] + " " + args[at+len(form.Detail):]
	case ReasonNegativeNumber:
		corrected = strings.ReplaceAll(args, form.Detail, strings.TrimLeft(form.Detail, "-−–"))
	case ReasonNoVersus:
		corrected = withVersus(args)
	}
	return corrected, corrected != "" && corrected != args
}

// withVersus puts a versus in the middle of an even number of mentions.
func withVersus(args string) string {
	words := strings.Fields(args)
	var mentions []int
	for i, word := range words {
		if word[0] == '@' {
			mentions = append(mentions, i)
		}
	}
	if n := len(mentions); n > 2 && n%2 == 0 {
		return strings.Join(slices.Insert(words, mentions[n/2], "vs"), " ")
	}
	return ""
}

// text returns the command that reports a match in its usual form. ok is false if one of the players cannot be written so that the same
// person is meant.
func (m Match) text(sender Person) (text string, ok bool) {
	name, hasPoints := NameMatch, m.Scores[0].HasPoints()
	if !hasPoints {
		name = m.Scores[0].command()
	}
	parts := []string{"/" + name}
	sides := [][]Person{m.A, m.B}
	if m.Self || len(m.A) == 1 && len(m.B) == 1 && m.A[0].isSame(sender) {
		sides = sides[1:]
	}
	for i, side := range sides {
		if i > 0 && (len(m.A)+len(m.B) > 2 || !hasPoints) {
			parts = append(parts, "vs")
		}
		for _, p := range side {
			switch {
			case p.Username != "":
				parts = append(parts, "@"+p.Username)
			case p.Player != 0:
				parts = append(parts, `"`+p.Name+`"`)
			default:
				return "", false
			}
		}
	}
	if !hasPoints {
		return strings.Join(parts, " "), true
	}
	return strings.Join(parts, " ") + writtenScores(m.Scores), true
}

// writtenScores returns scores with a space before each. The only one without points is a draw.
func writtenScores(all []Score) string {
	var b strings.Builder
	for _, s := range all {
		if s == draw {
			b.WriteString(" ½-½")
			continue
		}
		fmt.Fprintf(&b, " %d:%d", s.A, s.B)
	}
	return b.String()
}
