package bot

import (
	"fmt"
	"slices"
	"strings"

	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// fact is a line of a view, or a row of its table. label and value are HTML. Without a label, the
// value is the whole line.
type fact struct{ label, value string }

// fact returns a fact whose label is the text facts.<label> of the catalog.
func (w words) fact(label, value string) fact { return fact{w.Text("facts."+label, nil), value} }

func (w words) factLines(facts []fact) (lines []string) {
	for _, f := range facts {
		line := f.value
		if f.label != "" {
			line = w.Text("facts.line", args{"Label": f.label, "Value": f.value})
		}
		lines = append(lines, line)
	}
	return lines
}

// factTable formats facts as a table, with an optional remark below it.
func factTable(title, remark string, facts ...[]fact) string {
	t := newTable(title)
	for _, f := range slices.Concat(facts...) {
		t.row(textCell(f.label), numberCell(f.value))
	}
	return t.end(remark)
}

// paragraphs joins the non-empty paragraphs of a view, separated by empty lines.
func paragraphs(all ...[]string) string {
	var shown []string
	for _, lines := range all {
		if len(lines) > 0 {
			shown = append(shown, strings.Join(lines, "\n"))
		}
	}
	return strings.Join(shown, "\n\n")
}

// wonLost formats the numbers of wins, draws and losses. It omits the draws if there are none and
// noDraws is set.
func wonLost(won, drawn, lost int, noDraws bool) string {
	if noDraws && drawn == 0 {
		return fmt.Sprintf("%d–%d", won, lost)
	}
	return winsDrawsLosses(won, drawn, lost)
}

func (w words) resultsFact(won, drawn, lost int, noDraws bool) fact {
	label := "results"
	if noDraws && drawn == 0 {
		label = "results_no_draws"
	}
	return w.fact(label, wonLost(won, drawn, lost, noDraws))
}

// inMatch returns a value, followed by the number and the date of its match m.
func (w words) inMatch(value string, m stats.MatchRef) string {
	return w.Text("facts.in_match", args{"Value": value, "Number": m.Number, "Date": w.Date(m.At)})
}

// boldNames returns the names of a side in bold. If there are more than two, it returns only the
// first name and counts the others.
func (w words) boldNames(names []ranking.Name) string { return w.side(namesAs(names, boldName), 2, 1) }

// side joins the names of a side. If there are more than most, it joins only the first few names
// and counts the others.
func (w words) side(names []string, most, few int) string {
	if len(names) <= most {
		return strings.Join(names, " &amp; ")
	}
	return w.Plural("names.others", len(names)-few, args{"Names": strings.Join(names[:few], " &amp; ")})
}

func namesAs(names []ranking.Name, show func(ranking.Name) string) []string {
	shown := make([]string, len(names))
	for i, n := range names {
		shown[i] = show(n)
	}
	return shown
}

func boldName(n ranking.Name) string { return "<b>" + showName(n) + "</b>" }

// inTeams marks the team matches in a list of matches between two players.
const inTeams = "👥"

// playedMatches returns matches as facts, each with the match's number, score and rating change. If
// the match has Against, the fact also has these opponents. Otherwise it has the date and, for a
// team match, inTeams.
func (w words) playedMatches(all []stats.PlayedMatch) (facts []fact) {
	for _, m := range all {
		f := fact{w.matchNumber(m.Number), w.scoreAlone(m.Score) + " · " + signed(m.Change)}
		if len(m.Against) > 0 {
			f.label += " " + w.boldNames(m.Against)
		} else {
			f.value += " · " + w.Date(m.At)
			if m.Teams {
				f.value += " · " + inTeams
			}
		}
		facts = append(facts, f)
	}
	return facts
}

// lastLines returns matches as lines below the heading that has this id in the catalog. It returns
// nil if there are no matches.
func (w words) lastLines(id string, all []stats.PlayedMatch) (lines []string) {
	for _, f := range w.playedMatches(all) {
		lines = append(lines, f.label+" "+f.value)
	}
	if lines == nil {
		return nil
	}
	return append([]string{w.Text(id, nil)}, lines...)
}

func winsDrawsLosses(won, drawn, lost int) string {
	return fmt.Sprintf("%d–%d–%d", won, drawn, lost)
}
