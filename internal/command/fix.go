package command

import (
	"regexp"
	"strings"
)

// Fix is the right result of a match that was recorded with a wrong one.
type Fix struct {
	Number int     // number of the match; 0 if it is not given
	Scores []Score // as in Match
}

// ParseFix reads the arguments of /fix. Every error is a *FormError.
func ParseFix(c Command) (Fix, error) {
	if len(c.Mentions) > 0 {
		return Fix{}, formError(ReasonUnexpectedWord, c.Mentions[0].label())
	}
	if c.Args == "" {
		return Fix{}, formError(ReasonEmpty, "")
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
		f.Scores = []Score{draw}
		return f, nil
	}
	var text scoreText
	for _, word := range words {
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
	meant := line{scores: text}.possible(scores)
	if len(meant) > 1 {
		return Fix{}, formError(ReasonUnclearTotal, unclearTotal(meant[0], meant[1]))
	}
	f.Scores = meant[0]
	return f, nil
}

// namesMatch is true if the first word of a fix is the number of a match. A number before a colon or dash is part of a score.
func namesMatch(words []string) bool {
	if len(words) == 0 {
		return false
	}
	isScore := len(words) > 1 && strings.IndexFunc(words[1], isSeparator) == 0
	return strings.HasPrefix(words[0], "#") || isNumber(words[0]) && !isScore
}

// looseScore is a score whose separator does not touch its first number: the 13 in "13 :3" may be a match, and half of the score missing.
var looseScore = regexp.MustCompile(`(?:^|[^0-9\p{Cf}])\p{Cf}*[:：\-–—−][^0-9]*([0-9]+)`)
