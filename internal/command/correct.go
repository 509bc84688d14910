package command

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"elobot/internal/ladder"
)

// Correct suggests a well-formed command for a malformed report, ready to be sent. c and names are
// the arguments of ParseMatch, and err is its error. ok is false if the mistake needs more than
// dropping a filler or a minus sign or adding a "vs", if the corrected report is in doubt or has
// several matches, or if the suggestion is too long or cannot name a player.
func Correct(c Command, names *Names, err error) (text string, ok bool) {
	t := c.text()
	return correct(t.written, err, func(written string) (string, error) {
		t.written = written
		report, err := newParser(c).parseNames(t, names)
		if err != nil || report.Doubt != DoubtNone || len(report.Readings[0]) > 1 {
			return "", err
		}
		return report.Readings[0][0].command(c.Sender, c.Ladder), nil
	})
}

// CorrectAmendment suggests a well-formed /undo, /restore or /fix for a malformed one, ready to be
// sent. The suggestion includes the match number, so it need not be sent as a reply. ok is false if
// c mentions someone or has no number, if the mistake needs more than dropping a filler or a minus
// sign, or if the suggestion is too long. err is the error of the parser.
func CorrectAmendment(c Command, err error) (text string, ok bool) {
	if len(c.Mentions) > 0 {
		return "", false
	}
	return correct(c.Args, err, func(written string) (string, error) {
		var f Fix
		var err error
		if c.Args = written; c.Name == NameFix {
			f, err = ParseFix(c)
		} else {
			f.Number, err = ParseNumber(c)
		}
		if f.Number == 0 {
			return "", err
		}
		return "/" + c.Name + " " + strconv.Itoa(f.Number) + writtenScores(f.Scores), nil
	})
}

// correct corrects the slip that err reports in a text, and returns the command that read returns
// for the corrected text. read returns an empty string if there is nothing to suggest.
func correct(written string, err error, read func(written string) (string, error)) (text string, ok bool) {
	const most = 256 // characters, Telegram's limit for the text of a copy button
	written, ok = withoutSlip(written, err)
	if !ok {
		return "", false
	}
	text, err = read(written)
	if err != nil || text == "" || utf8.RuneCountInString(text) > most {
		return "", false
	}
	return text, true
}

// withoutSlip returns a text without the slip that err reports. ok is false unless the slip is a
// filler, a minus sign, or a missing versus between teams of the same size.
func withoutSlip(written string, err error) (corrected string, ok bool) {
	var form *FormError
	if !errors.As(err, &form) {
		return "", false
	}
	switch people := strings.Count(written, placeholder); {
	case form.Reason == ReasonUnexpectedWord && meaningOf(form.Detail).isFiller():
		// Dropping any other word may change the meaning.
		corrected = strings.Replace(written, form.Detail, " ", 1)
	case form.Reason == ReasonNegativeNumber:
		corrected = strings.ReplaceAll(written, form.Detail, strings.TrimLeft(form.Detail, "-−–"))
	case form.Reason == ReasonNoVersus && people > 2 && people%2 == 0:
		parts := strings.SplitAfterN(written, placeholder, people/2+1)
		corrected = strings.Join(parts[:people/2], "") + " vs " + parts[people/2]
	}
	return corrected, corrected != "" && corrected != written
}

// outcomeCommands maps each result without points to the command that reports it.
var outcomeCommands = map[ladder.Score]string{ladder.Win: NameWon, ladder.Loss: NameLost, ladder.Draw: NameDraw}

// command returns the command that reports a match. The command names the ladder unless ladder is
// empty. The result is empty if the match has stand-ins, or if a player who must be named has no
// username and is not in the store.
func (m Match) command(sender Person, ladder string) string {
	name := cmp.Or(outcomeCommands[m.Scores[0]], NameMatch)
	parts := []string{"/" + name}
	if m.StandIns != [2]int{} {
		return ""
	}
	if ladder != "" {
		parts = append(parts, ladder)
	}
	isSenders := m.Self || len(m.A) == 1 && len(m.B) == 1 && m.A[0].IsSame(sender)
	for i, p := range slices.Concat(m.A, m.B) {
		if i == len(m.A) && !isSenders && (len(m.A)+len(m.B) > 2 || name != NameMatch) {
			parts = append(parts, "vs")
		}
		switch {
		case i == 0 && isSenders:
		case p.Username != "":
			parts = append(parts, "@"+p.Username)
		case p.Player != 0:
			parts = append(parts, `"`+p.Name+`"`)
		default:
			return ""
		}
	}
	if name != NameMatch {
		return strings.Join(parts, " ")
	}
	return strings.Join(parts, " ") + writtenScores(m.Scores)
}

// writtenScores returns scores with a space before each.
func writtenScores(all []ladder.Score) (written string) {
	for _, s := range all {
		written += " " + s.String()
	}
	return written
}
