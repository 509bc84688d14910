package bot

import (
	"fmt"
	"slices"
	"strings"

	"elobot/internal/ranking"
)

// reportPrompt asks which reading of a report is meant. Readings that differ by a person are told apart by the buttons; others
// are listed.
func (w words) reportPrompt(n ranking.ReportPrompt) string {
	question := w.question(n)
	if n.Doubt == ranking.DoubtDuplicate || differByPerson(n) {
		return question
	}
	lines := []string{question}
	for i, o := range n.Options {
		lines = append(lines, fmt.Sprintf("%d. %s", i+1, w.namedResults(o.Results, "; ")))
	}
	return strings.Join(lines, "\n")
}

// differByPerson reports whether each option of a question is told by a person.
func differByPerson(n ranking.ReportPrompt) bool {
	return !slices.ContainsFunc(n.Options, func(o ranking.ReportOption) bool { return o.Who == nil })
}

func (w words) question(n ranking.ReportPrompt) string {
	id := "question." + string(n.Doubt)
	switch n.Doubt {
	case ranking.DoubtDuplicate:
		with := args{"Number": n.Earlier.Number}
		if n.Earlier.Same {
			return w.Text(id+"_same", with)
		}
		return w.textBy(id+"_by", n.Earlier.By, with)
	case ranking.DoubtName, ranking.DoubtUnknownName:
		return w.Text(id, args{"Word": showWord(n.Word)})
	case ranking.DoubtUsername:
		return w.Text(id, args{"Word": showText("@" + n.Word)})
	default:
		return w.Text(id, nil)
	}
}

// namedResults returns results in a line each, or between separators.
func (w words) namedResults(all []ranking.NamedResult, separator string) string {
	lines := make([]string, len(all))
	for i, r := range all {
		lines[i] = w.reportedSide(r.Sides[0]) + " " + showScore(r.Score) + " " + w.reportedSide(r.Sides[1]) + brackets(showSets(r.Sets))
	}
	return strings.Join(lines, separator)
}

// whichPrompt asks which of several matches is to be undone.
func (w words) whichPrompt(n ranking.WhichPrompt) string {
	lines := []string{w.Text("prompt.which", nil)}
	for _, m := range n.Matches {
		lines = append(lines, w.matchNumber(m.Number)+" "+w.namedResults([]ranking.NamedResult{m.NamedResult}, ""))
	}
	return strings.Join(lines, "\n")
}

func (w words) reportChosen(n ranking.ReportChosen) string {
	return "✓ " + w.namedResults(n.Results, "\n✓ ")
}

func (w words) reportDropped(n ranking.ReportDropped) string {
	if n.By == nil {
		return w.Text("question.unanswered", nil)
	}
	return w.textBy("question.cancelled_by", *n.By, nil)
}
