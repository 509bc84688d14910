package command

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	MaxSets = 25 // the maximum number of scores in a match
	MaxTeam = 10 // the maximum number of people on one side of a match
)

// Match is a reported result. Each side has at least one person. All people are different, and none of them is a bot.
type Match struct {
	A, B   []Person
	Self   bool    // A is the sender alone, without being mentioned
	When           // it was played, if the report tells
	Scores []Score // one, or the sets in the order in which they were played
	Games  string  // the games of a match that ended early, as typed; they do not count
}

// Score is the score of a match or a set: the points of A and B, each from 0 to 999, with Half
// added to both if each has half a point more. The only score of a match may be a win, a loss or a
// draw of A without points.
type Score struct {
	A int `json:"a"`
	B int `json:"b"`
}

// Half stands in the points of both sides for half a point more: after two wins and a draw, 2½:½ is
// {Half+2, Half}. A drawn game gives half a point to each, so points with halves compare and differ
// as whole ones do. The database, buttons and notices have it so too.
const Half = 1000

// NoPoints stands for the points of a side where nobody counted any. The winner then has 0, and
// after a draw both have NoPoints.
const NoPoints = -1

// The scores without points.
var (
	Win  = Score{0, NoPoints}
	Loss = Score{NoPoints, 0}
	Draw = Score{NoPoints, NoPoints}
)

// drawnGame is the score of a drawn game in a series.
var drawnGame = Score{Half, Half}

// String returns the score as it is typed.
func (s Score) String() string {
	if s == Draw {
		return "="
	}
	return typedPoints(s.A) + ":" + typedPoints(s.B)
}

func typedPoints(n int) string {
	if n < Half {
		return strconv.Itoa(n)
	}
	return strings.TrimPrefix(strconv.Itoa(n-Half), "0") + half
}

// most returns the larger number of whole points.
func (s Score) most() int { return max(s.A, s.B) % Half }

// isGame reports whether the score can be that of a game in a series: somebody won it, or nobody.
func (s Score) isGame() bool { return s == drawnGame || s.A+s.B == 1 }

// HasPoints is true if the score is more than who has won.
func (s Score) HasPoints() bool { return min(s.A, s.B) != NoPoints }

// IsValid is true if a match can have the score.
func (s Score) IsValid() bool {
	return min(s.A, s.B) >= 0 && max(s.A, s.B) < 2*Half && s.A/Half == s.B/Half || s == Win || s == Loss || s == Draw
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

// ParseMatch reads the arguments of /match, /won, /lost and /draw. sender is the zero Person if unknown (an anonymous admin). reply is the
// author of the message replied to, nil if there is none; its IsBot must be set for bots, including this one. A mention of the sender or of
// the author yields that Person. names are the players of the group; nil if none can be meant by a plain name. Every error is a *FormError.
func ParseMatch(c Command, sender Person, reply *Person, names *Names) (Report, error) {
	answers := reply != nil && !reply.IsBot && c.SaysWhoWon() // /won in reply to the opponent says it all
	if c.Args == "" && !answers {
		return Report{}, formError(ReasonEmpty, "")
	}
	p, t := newParser(c, sender, reply), c.text()
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
func ParseScores(c Command) ([]Score, error) {
	if len(c.Mentions) > 0 {
		return nil, formError(ReasonUnexpectedWord, c.Mentions[0].label())
	}
	first, second := Person{UserID: -1}, Person{UserID: -2} // nobody has such an id
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
