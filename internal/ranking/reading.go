package ranking

import (
	"errors"
	"strings"
	"unicode"

	"elobot/internal/command"
	"elobot/internal/notice"
)

// Parsed is what a message says about matches: one of the fields is set.
type Parsed struct {
	Reports   []command.Match // in their order
	Ambiguous *command.Report // if it can mean several things
	Malformed Notice          // why it cannot be read
	// Unscored is a match whose score is missing, beside Malformed. The sender is asked for it.
	Unscored *command.Match
}

// ParseReport returns what a result says. If names is nil, only people who are mentioned are read;
// a group without players has names, but none that is known.
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

// NeedsNames reports whether a command can be read only once it is known who is in the group. Most
// results mention everybody, and have no other words than "gg": they can be read without.
func (r Parsed) NeedsNames(c command.Command) bool {
	isUnread := r.Malformed != nil || r.Ambiguous != nil && r.Ambiguous.Doubt == command.DoubtLine
	return c.LikelyNamesPlayers() || isUnread
}

// hasNumber reports whether there is a number in the arguments of a command.
func hasNumber(c command.Command) bool { return strings.ContainsFunc(c.Args, unicode.IsNumber) }

// WrongForm says what is wrong with the form of a command.
type WrongForm struct {
	Command string         `json:"command"`
	Reason  command.Reason `json:"reason"`
	Detail  string         `json:"detail,omitempty"`
	Teams   bool           `json:"teams,omitempty"` // a /match with teams
	// Corrected is the command that was probably meant, empty if that is not clear.
	Corrected string `json:"corrected,omitempty"`
}

var _ = notice.Register[WrongForm](notice.Kind{Name: "wrong_form", Purpose: notice.Outcome})

// WrongFormOf returns the notice for an error of the command package. ok is false for all others.
func WrongFormOf(c command.Command, err error) (form WrongForm, ok bool) {
	var wrong *command.FormError
	if !errors.As(err, &wrong) {
		return form, false
	}
	teams := c.Name == command.NameMatch && c.NamesTeams()
	return WrongForm{Command: c.Name, Reason: wrong.Reason, Detail: wrong.Detail, Teams: teams}, true
}

// Unexpected returns the notice for a word that means nothing in a command.
func Unexpected(c command.Command, word string) WrongForm {
	return WrongForm{Command: c.Name, Reason: command.ReasonUnexpectedWord, Detail: command.Excerpt(word)}
}
