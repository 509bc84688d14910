package command

import (
	"regexp"
	"slices"
	"strings"

	"elobot/internal/ladder"
)

const (
	MaxSets = 25 // the maximum number of scores in a match
	MaxTeam = 10 // the maximum number of people on one side of a match, including stand-ins
	// MaxStandIns is the maximum number of stand-ins in a match.
	MaxStandIns = 2
)

// Match is a reported result. Each side has at least one person. All people are different, and none
// of them is a bot. The JSON form is part of stored reports.
type Match struct {
	// Key is the idempotency key of the match. Parsing leaves it empty. An empty key stands for the
	// key of the message, followed by #2, #3 and so on for the later matches of the message.
	Key string   `json:"key,omitempty"`
	A   []Person `json:"a"` // the side whose points come first in each score
	B   []Person `json:"b"`
	// StandIns is how many stand-ins play on each side, in addition to the people in A and B.
	StandIns [2]int         `json:"stand_ins,omitzero"`
	Self     bool           `json:"-"`      // A is the sender alone, whom the text does not name
	Scores   []ladder.Score `json:"scores"` // the only score, or the sets in the order played
	// Games has the games of a match that ended early, as typed. They do not affect the result.
	Games string `json:"games,omitempty"`
	When         // when it was played, if the report says
}

// Reading is one way to read a report: its matches, in order. It has at least one.
type Reading []Match

// Report is a parsed report, with all its possible readings.
type Report struct {
	// Readings are the ways to understand the text, the likeliest first: at least one and at most
	// MaxReadings. If two differ only in the winner, the first has the numbers of the score in the
	// order typed.
	Readings []Reading
	Doubt    Doubt  // why a person must choose a reading, or confirm the only one
	Word     string // the name in doubt, the score that may not count, or the unreadable line; may be empty
}

// ParseMatch reads the arguments of /match, /won, /lost and /draw. A mention of the sender or of
// the author of the replied-to message becomes c.Sender or *c.Reply. names are the players of the
// group. If names is nil, no word is read as a plain name. Every error is a *FormError.
func ParseMatch(c Command, names *Names) (Report, error) {
	// A /won in reply to the opponent is complete without arguments.
	answers := c.Reply != nil && !c.Reply.IsBot && c.SaysWhoWon()
	if c.Args == "" && !answers {
		return Report{}, formError(ReasonEmpty, "")
	}
	p, t := newParser(c), c.text()
	t.written = listNumber.ReplaceAllString(t.written, "$1")
	t.written = gaveUp.ReplaceAllString(t.written, "ret")
	report, kept, err := p.parseDated(t, names, names)
	if kept == "" {
		return report, err
	}
	// The name may be meant as a day, as in "@carol 3:1 sunday" where a player is called Sunday.
	switch dated, _, other := p.parseDated(t, names, nil); {
	case other != nil || dated.Doubt == DoubtUnknownName:
	case err != nil:
		report, err = dated, nil
	case report.or(dated):
		report.Doubt, report.Word = DoubtName, kept
	}
	return report, err
}

// parseDated reads a report with a date. kept is as in withoutDates, for the players in notDates.
func (p parser) parseDated(t text, names, notDates *Names) (report Report, kept string, err error) {
	t, day, other, kept := t.withoutDates(notDates)
	if other != "" {
		return Report{}, kept, formError(ReasonUnexpectedWord, other)
	}
	report, err = p.parseNames(t, names)
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
	return report, kept, err
}

// gaveUp matches two-word phrases for an early end. Neither word has that meaning without the
// other.
var gaveUp = regexp.MustCompile(`(?i)\b(?:(?:gave|gives?) up|(?:gab|gibt) auf)\b`)

// listNumber matches the number of a line in a list, such as the "1. " of "1. @bob 3:1". It
// captures the character after that, which must not be a digit.
var listNumber = regexp.MustCompile(`(?m)^[ \t]*[0-9]{1,2}[.)][ \t]+([^0-9\s])`)

// withScoresApart splits off the first number of a score typed directly after a player's username:
// in "@carol3:1", Telegram marks "@carol3" as a mention. If a player has the username carol3, the
// mention stays whole.
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

// halfScore matches the second half of a score at the beginning of a text.
var halfScore = regexp.MustCompile(`^[:：\-–—−][0-9]{1,3}(?:[^0-9:：\-–—−]|$)`)

// mayTouchScore reports whether a mention may be a username with a number typed directly after it.
func (t text) mayTouchScore() bool {
	for i, behind := range strings.Split(t.written, placeholder)[1:] {
		if endsWithDigit(t.people[i].Username) && halfScore.MatchString(behind) {
			return true
		}
	}
	return false
}

// ParseScores reads the scores of a match whose sides are already known. The first number of each
// score returned belongs to the first side. Every error is a *FormError.
func ParseScores(c Command) ([]ladder.Score, error) {
	if len(c.Mentions) > 0 {
		return nil, formError(ReasonUnexpectedWord, c.Mentions[0].label())
	}
	first, second := Person{ID: -1}, Person{ID: -2} // no user has such an id
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

// ParseMatchOf is ParseMatch with the names of all members of a group. If the arguments are
// unlikely to have plain names, it first tries without plain names. So a word such as "gg" becomes
// a name only if that attempt fails or leaves an unreadable line.
func ParseMatchOf(c Command, everybody []Person) (Report, error) {
	if !c.LikelyNamesPlayers() {
		if report, err := ParseMatch(c, nil); err == nil && report.Doubt != DoubtLine {
			return report, nil
		}
	}
	return ParseMatch(c, NewNames(everybody))
}
