package bot

import (
	"fmt"
	"slices"
	"strings"

	"elobot/internal/ranking"
)

// reportPrompt asks which reading of a report is meant. Readings that differ by a person, or are short, are told apart by the buttons;
// others are listed.
func (w words) reportPrompt(n ranking.ReportPrompt) string {
	question := w.question(n)
	if n.Doubt == ranking.DoubtDuplicate || differByPerson(n) || w.resultLabels(n) != nil {
		return question
	}
	lines := []string{question}
	for i, o := range n.Options {
		lines = append(lines, fmt.Sprintf("%d. %s", i+1, w.namedResults(o.Results, "; ", maxListed/len(n.Options))))
	}
	return strings.Join(lines, "\n")
}

// differByPerson reports whether each option of a question is told by a person.
func differByPerson(n ranking.ReportPrompt) bool {
	return !slices.ContainsFunc(n.Options, func(o ranking.ReportOption) bool { return o.Who == nil })
}

// resultLabels returns the results of the readings as the labels of buttons, nil if one of them does not fit on a button.
func (w words) resultLabels(n ranking.ReportPrompt) []string {
	labels := make([]string, len(n.Options))
	for i, o := range n.Options {
		label := plain(w.namedResults(o.Results, "; ", maxListed))
		if cut(label, maxLabel, maxNameUnits) != label {
			return nil
		}
		labels[i] = label
	}
	return labels
}

func (w words) question(n ranking.ReportPrompt) string {
	id := "question." + string(n.Doubt)
	switch n.Doubt {
	case ranking.DoubtDuplicate:
		lines := []string{w.repeated(id, *n.Earlier)}
		for _, e := range n.Further {
			lines = append(lines, w.repeated(id, e))
		}
		return joinUpTo(maxListed, lines, "\n")
	case ranking.DoubtName, ranking.DoubtUnknownName:
		return w.Text(id, args{"Word": showWord(n.Word)})
	case ranking.DoubtUsername:
		return w.Text(id, args{"Word": showText("@" + n.Word)})
	default:
		return w.Text(id, nil)
	}
}

// repeated says that a result was reported before, and which one if several are reported.
func (w words) repeated(id string, e ranking.EarlierReport) string {
	with := args{"Number": e.Number}
	question := w.textBy(id+"_by", e.By, with)
	if e.Same {
		question = w.Text(id+"_same", with)
	}
	if e.Result != nil {
		return w.namedResult(*e.Result) + "\n" + question
	}
	return question
}

// maxListed is the room for results in a question or its answer, in UTF-16 units.
const maxListed = maxText - 512

// namedResults returns results in a line each, or between separators: as many as there is room for.
func (w words) namedResults(all []ranking.NamedResult, separator string, room int) string {
	lines := make([]string, len(all))
	for i, r := range all {
		lines[i] = w.namedResult(r)
	}
	return joinUpTo(room, lines, separator)
}

func (w words) namedResult(r ranking.NamedResult) string {
	return w.reportedSide(r.Sides[0]) + " " + showScore(r.Score) + " " + w.reportedSide(r.Sides[1]) + brackets(showSets(r.Sets))
}

// joinUpTo joins as many texts as there is room for, in UTF-16 units, with an ellipsis for the others.
func joinUpTo(room int, all []string, separator string) string {
	for i, text := range all {
		if room -= utf16Length(plain(text)) + utf16Length(separator); room < 0 {
			return strings.Join(append(slices.Clone(all[:i]), "…"), separator)
		}
	}
	return strings.Join(all, separator)
}

// whichPrompt asks which of several matches is to be undone.
func (w words) whichPrompt(n ranking.WhichPrompt) string {
	lines := []string{w.Text("prompt.which", nil)}
	for _, m := range n.Matches {
		lines = append(lines, w.matchNumber(m.Number)+" "+w.namedResult(m.NamedResult))
	}
	return strings.Join(lines, "\n")
}

func (w words) reportChosen(n ranking.ReportChosen) string {
	return "✓ " + w.namedResults(n.Results, "\n✓ ", maxListed)
}

func (w words) reportDropped(n ranking.ReportDropped) string {
	if n.By == nil {
		return w.Text("question.unanswered", nil)
	}
	return w.textBy("question.cancelled_by", *n.By, nil)
}
