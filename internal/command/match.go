package command

import (
	"regexp"
	"slices"
	"strings"

	"elobot/internal/ladder"
)

const (
	MaxSets = 25 // the maximum number of scores in a match
	MaxTeam = 10 // the maximum number of people on one side of a match
)

// Match is a reported result. Each side has at least one person. All people are different, and none
// of them is a bot. In JSON it is what a stored question says about a report.
type Match struct {
	// Key is the idempotency key of the match. Parsing leaves it empty: that of the message, to which
	// the next matches of a message add #2, #3 and so on.
	Key    string         `json:"key,omitempty"`
	A      []Person       `json:"a"` // side A's scores come first
	B      []Person       `json:"b"`
	Self   bool           `json:"-"`               // A is the sender alone, without being mentioned
	Scores []ladder.Score `json:"scores"`          // one, or the sets in the order in which they were played
	Games  string         `json:"games,omitempty"` // those of a match that ended early, as typed; they do not count
	When                  // it was played, if the report tells
}

// Reading is one way to read a report: the matches that it reports, in their order. There is at least one.
type Reading []Match

// Report is what the arguments of a command mean.
type Report struct {
	// Readings are the ways to read them, the likeliest first: at least one and at most MaxReadings. Of two that differ in the winner, the
	// first has the score as it was typed.
	Readings []Reading
	Doubt    Doubt  // why somebody must say which reading is meant, or whether the only one is
	Word     string // the name that is in doubt, or the score that may be a total, or empty
}

// ParseMatch reads the arguments of /match, /won, /lost and /draw. A mention of the sender or of
// the author of the message that it replies to yields that Person. names are the players of the
// group; nil if none can be meant by a plain name. Every error is a *FormError.
func ParseMatch(c Command, names *Names) (Report, error) {
	answers := c.Reply != nil && !c.Reply.IsBot && c.SaysWhoWon() // /won in reply to the opponent says it all
	if c.Args == "" && !answers {
		return Report{}, formError(ReasonEmpty, "")
	}
	p, t := newParser(c), c.text()
	t.written = listNumber.ReplaceAllString(t.written, "$1")
	t.written = gaveUp.ReplaceAllString(t.written, "ret")
	t, day := t.withoutDates(names)
	report, err := p.parseNames(t, names)
	if err != nil && strings.Contains(t.written, "\n") {
		if others, ok := p.withoutBadLine(t, names); ok {
			report, err = others, nil
		}
	}
	for _, reading := range report.Readings {
		for i := range reading {
			reading[i].Day = day
		}
	}
	return report, err
}

// gaveUp are the two words for an early end of which neither means it without the other.
var gaveUp = regexp.MustCompile(`(?i)\b(?:(?:gave|gives?) up|(?:gab|gibt) auf)\b`)

// listNumber is the number of a line in a list, and what follows it: "1. @bob 3:1".
var listNumber = regexp.MustCompile(`(?m)^[ \t]*[0-9]{1,2}[.)][ \t]+([^0-9\s])`)

// withScoresApart returns the text with the numbers that are typed directly behind the username of a player apart from it: in "@carol3:1",
// Telegram marks "@carol3" as a mention.
func (t text) withScoresApart(names *Names) text {
	parts, people := strings.Split(t.written, placeholder), slices.Clone(t.people)
	for i, p := range people {
		full := p.Username
		if !halfScore.MatchString(parts[i+1]) || names.isUsername(full) {
			continue
		}
		for at := len(full) - 1; at > 0 && len(full)-at <= maxDigits && isNumber(full[at:]); at-- {
			if names.isUsername(full[:at]) {
				people[i].Username, parts[i+1] = full[:at], " "+full[at:]+parts[i+1]
				break
			}
		}
	}
	return text{strings.Join(parts, placeholder), people}
}

// halfScore is the second half of a score at the beginning of a text.
var halfScore = regexp.MustCompile(`^[:：\-–—−][0-9]{1,3}(?:[^0-9:：\-–—−]|$)`)

// mayTouchScore is true if a mention may be a username with a number behind it.
func (t text) mayTouchScore() bool {
	for i, behind := range strings.Split(t.written, placeholder)[1:] {
		if endsWithDigit(t.people[i].Username) && halfScore.MatchString(behind) {
			return true
		}
	}
	return false
}

// ParseScores reads the scores of a match with known sides, those of the first side first. Every error is a *FormError.
func ParseScores(c Command) ([]ladder.Score, error) {
	if len(c.Mentions) > 0 {
		return nil, formError(ReasonUnexpectedWord, c.Mentions[0].label())
	}
	first, second := Person{ID: -1}, Person{ID: -2} // nobody has such an id
	report, err := parser{}.parse(text{placeholder + placeholder + c.text().written, []Person{first, second}})
	if err != nil {
		return nil, err
	}
	m, err := Certain(report)
	if err == nil && m.A[0] == second {
		m = m.mirrored()
	}
	return m.Scores, err
}

// ParseMatchOf does what ParseMatch does in a group of people. A word such as "gg" is a name only
// if the report cannot be read otherwise.
func ParseMatchOf(c Command, everybody []Person) (Report, error) {
	if !c.LikelyNamesPlayers() {
		if report, err := ParseMatch(c, nil); err == nil && report.Doubt != DoubtLine {
			return report, nil
		}
	}
	return ParseMatch(c, NewNames(everybody))
}
