package ranking

import (
	"errors"
	"strings"
	"unicode"

	"elobot/internal/command"
	"elobot/internal/notice"
)

// Parsed is a parsed message about matches. Exactly one of Reports, Ambiguous and Malformed is set.
type Parsed struct {
	Reports   []command.Match // in the order of the message
	Ambiguous *command.Report // several readings are possible
	Malformed Notice          // why the message cannot be parsed
	// Unscored is the match if only its score is missing. Malformed is then set too, in case the
	// bot cannot ask the sender for the score.
	Unscored *command.Match
}

// ParseReport parses a report. If names is nil, it recognizes only mentions. If names is not nil
// but has no players, each plain name is an unknown name.
func ParseReport(c command.Command, names *command.Names) Parsed {
	report, err := command.ParseMatch(c, names)
	switch {
	case err != nil:
		form, _ := WrongFormOf(c, err)
		form.Corrected, _ = command.Correct(c, names, err)
		reading := Parsed{Malformed: form}
		if form.Reason == command.ReasonNoScore {
			if m, err := command.ParseSides(c, names); err == nil {
				reading.Unscored = &m
			}
		}
		return reading
	case report.Doubt == command.DoubtNone:
		return Parsed{Reports: report.Readings[0]}
	default:
		return Parsed{Ambiguous: &report}
	}
}

// NeedsNames reports whether parsing a command probably needs the names of the group's members. It
// does if the command probably has plain names, or if something in it could not be read.
func (r Parsed) NeedsNames(c command.Command) bool {
	isUnread := r.Malformed != nil || r.Ambiguous != nil && r.Ambiguous.Doubt == command.DoubtLine
	return c.LikelyNamesPlayers() || isUnread
}

func hasNumber(c command.Command) bool { return strings.ContainsFunc(c.Args, unicode.IsNumber) }

// WrongForm is a notice that says what is wrong with the form of a command.
type WrongForm struct {
	Command string         `json:"command"`
	Reason  command.Reason `json:"reason"`
	Detail  string         `json:"detail,omitempty"`
	// Teams is set for a /match about teams, and for a /fix that names players.
	Teams bool `json:"teams,omitempty"`
	// Corrected is the command that the sender probably meant, empty if unclear.
	Corrected string `json:"corrected,omitempty"`
}

var _ = notice.Register[WrongForm](notice.Kind{Name: "wrong_form", Purpose: notice.Outcome})

// WrongFormOf returns the notice for an error that is a command.FormError. ok is false for other
// errors.
func WrongFormOf(c command.Command, err error) (form WrongForm, ok bool) {
	var wrong *command.FormError
	if !errors.As(err, &wrong) {
		return form, false
	}
	teams := c.Name == command.NameMatch && c.NamesTeams()
	return WrongForm{Command: c.Name, Reason: wrong.Reason, Detail: wrong.Detail, Teams: teams}, true
}

// Unexpected returns the notice for a word that has no meaning in the command.
func Unexpected(c command.Command, word string) WrongForm {
	return WrongForm{Command: c.Name, Reason: command.ReasonUnexpectedWord, Detail: command.Excerpt(word)}
}
