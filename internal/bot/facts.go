package bot

import (
	"fmt"
	"slices"
	"strings"

	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// fact is a line of a view, or a row of its table. Both parts are HTML; without a label it is a line of its own.
type fact struct{ label, value string }

// fact returns a fact with a label of the catalog.
func (w words) fact(label, value string) fact { return fact{w.Text("facts."+label, nil), value} }

// factLines returns facts as lines.
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

// factTable returns facts as a table, with a remark below it, unless that is empty.
func factTable(title, remark string, facts ...[]fact) string {
	t := newTable(title)
	for _, f := range slices.Concat(facts...) {
		t.row(textCell(f.label), numberCell(f.value))
	}
	return t.end(remark)
}

// paragraphs joins the paragraphs of a view that have lines, with an empty line between them.
func paragraphs(all ...[]string) string {
	var shown []string
	for _, lines := range all {
		if len(lines) > 0 {
			shown = append(shown, strings.Join(lines, "\n"))
		}
	}
	return strings.Join(shown, "\n\n")
}

// wonLost returns how many matches were won, drawn and lost. Where there are no draws, it leaves them out.
func wonLost(won, drawn, lost int, noDraws bool) string {
	if noDraws && drawn == 0 {
		return fmt.Sprintf("%d–%d", won, lost)
	}
	return winsDrawsLosses(won, drawn, lost)
}

// resultsFact says how many matches were won, drawn and lost.
func (w words) resultsFact(won, drawn, lost int, noDraws bool) fact {
	label := "results"
	if noDraws && drawn == 0 {
		label = "results_no_draws"
	}
	return w.fact(label, wonLost(won, drawn, lost, noDraws))
}

// inMatch adds to a value which match it comes from, and when that was.
func (w words) inMatch(value string, m stats.MatchRef) string {
	return w.Text("facts.in_match", args{"Value": value, "Number": m.Number, "Date": w.Date(m.At)})
}

// boldNames returns the names of a side in bold: both of two, or the first one and the number of the others.
func (w words) boldNames(names []ranking.Name) string { return w.side(namesAs(names, boldName), 2, 1) }

// side joins the names of a side. If it has more than most, only the first few are named, and the others are counted.
func (w words) side(names []string, most, few int) string {
	if len(names) <= most {
		return strings.Join(names, " &amp; ")
	}
	return w.Plural("names.others", len(names)-few, args{"Names": strings.Join(names[:few], " &amp; ")})
}

// namesAs returns names as show renders them.
func namesAs(names []ranking.Name, show func(ranking.Name) string) []string {
	shown := make([]string, len(names))
	for i, n := range names {
		shown[i] = show(n)
	}
	return shown
}

func boldName(n ranking.Name) string { return "<b>" + showName(n) + "</b>" }

// inTeams marks the matches of teams among those of two players.
const inTeams = "👥"

// playedMatches returns matches as facts: their numbers, the scores, the changes of the rating, and the opponents, or the day if these are
// clear.
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

// lastLines returns the last matches as lines, under a text.
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
