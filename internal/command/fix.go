package command

import (
	"cmp"
	"regexp"
	"strings"

	"elobot/internal/ladder"
)

// maxNumberDigits is the maximum number of digits in a match number, or in a number in a question.
const maxNumberDigits = 9

// ParseNumber reads the arguments of /undo and /restore. It returns the number of the match, or 0
// if none is given. Every error is a *FormError.
func ParseNumber(c Command) (number int, err error) {
	words := fields(c.Args)
	switch {
	case len(c.Mentions) > 0:
		return 0, formError(ReasonUnexpectedWord, c.Mentions[0].label())
	case len(words) == 0:
		return 0, nil
	}
	number, err = matchNumber(words[0])
	if err == nil && len(words) > 1 {
		return 0, cmp.Or(wordFault(words[1], words[1]), formError(ReasonUnexpectedWord, words[1]))
	}
	return number, err
}

// matchNumber reads the number of a match, with or without a leading #.
func matchNumber(word string) (int, error) {
	digits := strings.TrimPrefix(word, "#")
	switch err := wordFault(digits, word); {
	case err != nil:
		return 0, err
	case !isNumber(digits):
		return 0, formError(ReasonUnexpectedWord, word)
	case len(digits) > maxNumberDigits || value(digits) == 0:
		return 0, formError(ReasonNoSuchNumber, digits)
	}
	return value(digits), nil
}

// Fix is a correction of the result of a recorded match.
type Fix struct {
	Number int            // number of the match; 0 if it is not given
	Scores []ladder.Score // as in Match; nil if the command has no arguments
}

// ParseFix reads the arguments of /fix. Every error is a *FormError.
func ParseFix(c Command) (Fix, error) {
	if len(c.Mentions) > 0 {
		return Fix{}, formError(ReasonUnexpectedWord, c.Mentions[0].label())
	}
	if c.Args == "" {
		return Fix{}, nil
	}
	var f Fix
	words := fields(c.Args)
	if namesMatch(words) {
		n, err := matchNumber(words[0])
		if err != nil {
			return Fix{}, err
		}
		f.Number, words = n, words[1:]
	}
	if len(words) == 1 && meaningOf(words[0]) == drew {
		f.Scores = []ladder.Score{ladder.Draw}
		return f, nil
	}
	var text scoreText
	for i, word := range words {
		word = text.withDraw(word, strings.Join(words[i+1:min(i+2, len(words))], ""))
		if err := text.add(withColon(word, false), 0); err != nil {
			return Fix{}, err
		}
	}
	scores, err := text.scores()
	if err != nil {
		return Fix{}, err
	}
	if loose := looseScore.FindStringSubmatch(c.Args); f.Number == 0 && loose != nil {
		return Fix{}, formError(ReasonIncompleteScore, loose[1])
	}
	meant, doubt := line{scores: text}.possible(scores, unknown)
	switch doubt {
	case DoubtHalf:
		return Fix{}, formError(ReasonUnexpectedWord, oneTwo)
	case DoubtResults:
		return Fix{}, formError(ReasonUnexpectedWord, half)
	case DoubtTotal:
		return Fix{}, formError(ReasonUnclearTotal, unclearTotal(meant[0], meant[1]))
	}
	f.Scores = meant[0]
	return f, nil
}

// LineupAfter reads a /fix that names the players of a match. It returns the number of the match,
// or 0 if the arguments do not begin with one, and the rest as a /match that replies to no message.
// ok is false if no match can have the number, or if the rest cannot name a player.
func LineupAfter(c Command) (number int, lineup Command, ok bool) {
	lineup, lineup.Name, lineup.Written, lineup.Reply = c, NameMatch, NameMatch, nil
	if words := fields(c.Args); namesMatch(words) {
		before, after, _ := strings.Cut(c.Args, words[0])
		if strings.Contains(before, placeholder) {
			return 0, lineup, true
		}
		if number, _ = matchNumber(words[0]); number == 0 {
			return 0, lineup, false
		}
		lineup.Args = strings.TrimLeft(after, " \t\n,;.")
	}
	return number, lineup, len(c.Mentions) > 0 || lineup.MayNamePlayers()
}

// namesMatch reports whether the first word of a fix is meant as a match number. A number before a
// word that begins with a colon or dash is part of a score.
func namesMatch(words []string) bool {
	if len(words) == 0 {
		return false
	}
	isScore := len(words) > 1 && strings.IndexFunc(words[1], isSeparator) == 0
	return strings.HasPrefix(words[0], "#") || isNumber(words[0]) && !isScore
}

// looseScore matches a separator without a number directly before it, up to the next number, which
// it captures. In "13 :3", 13 may be the match number, and the first half of the score may be
// missing.
var looseScore = regexp.MustCompile(`(?:^|[^0-9½\p{Cf}])\p{Cf}*[:：\-–—−][^0-9]*([0-9]+)`)
