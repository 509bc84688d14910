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
	rest := c.Args
	if word, after := cutWord(rest); isMatchNumber(word, after) {
		n, err := matchNumber(word)
		if err != nil {
			return Fix{}, err
		}
		f.Number, rest = n, after
	}
	if word, after := cutWord(rest); meaningOf(word) == drew && strings.TrimFunc(after, isBreak) == "" {
		f.Scores = []Score{draw}
		return f, nil
	}
	text := scoreText{numbers: make([]number, 0, 2)}
	for rest != "" {
		var word string
		word, rest = cutWord(rest)
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
	meant := withoutTotal(scores)
	if len(meant) > 1 {
		return Fix{}, formError(ReasonUnclearTotal, unclearTotal(meant[0], meant[1]))
	}
	f.Scores = meant[0]
	return f, nil
}

// isMatchNumber is true if the first word of a fix is the number of a match. A number before a colon or dash is part of a score. So without
// the number of a match, every score needs a colon or dash.
func isMatchNumber(word, after string) bool {
	if strings.HasPrefix(word, "#") {
		return true
	}
	next, _ := cutWord(after)
	return isNumber(word) && strings.IndexFunc(next, isSeparator) != 0
}

// looseScore is a score whose separator does not visibly touch its first number, with the second one. In "13 :3" the 13 may be the number of
// a match, so that half of the score is missing.
var looseScore = regexp.MustCompile(`(?:^|[^0-9\p{Cf}])\p{Cf}*[:：\-–—−][^0-9]*([0-9]+)`)
