package bot

import (
	"strconv"
	"strings"

	"elobot/internal/command"
	"elobot/internal/ranking"
)

var _ = shows(view[ranking.NotRecorded]{text: words.notRecorded})

// notRecorded lists as many rejected results as fit into a message, and counts the others.
func (w words) notRecorded(n ranking.NotRecorded) string {
	var s several
	for _, item := range n.Items {
		if !s.addLine("• "+w.rejectedResult(item), 0, 0) {
			break
		}
	}
	lines := append([]string{w.Plural("not_recorded.title", n.Limit, nil)}, s.lines...)
	if more := len(n.Items) - len(s.lines) + n.More; more > 0 {
		lines = append(lines, w.Plural("not_recorded.more", more, nil))
	}
	return strings.Join(append(lines, "", w.Plural("not_recorded.again", n.Limit, nil)), "\n")
}

// rejectedResult returns a line about a rejected report, or about a rejected command to amend a
// match.
func (w words) rejectedResult(d ranking.RejectedResult) string {
	if len(d.Sides[0]) > 0 && !hasPoints(d.Score) {
		return w.namedResult(d.NamedResult)
	}
	if len(d.Sides[0]) > 0 {
		return w.Text("not_recorded.result", args{
			"A": w.reportedSide(d.NamedResult, 0), "B": w.reportedSide(d.NamedResult, 1),
			"Score": showScore(d.Score) + brackets(showSets(d.Sets)),
		})
	}
	parts := []string{"/" + d.Command}
	if d.Number != 0 {
		parts = append(parts, strconv.Itoa(d.Number))
	}
	switch {
	case d.Malformed || d.Command != command.NameFix:
	case len(d.Sets) > 0:
		parts = append(parts, showSets(d.Sets))
	default:
		parts = append(parts, w.scoreAlone(d.Score))
	}
	written := "<code>" + strings.Join(parts, " ") + "</code>"
	switch {
	case d.Malformed:
		return w.Text("not_recorded.malformed", args{"Command": written})
	case d.Last && d.Command == command.NameRestore:
		return w.Text("not_recorded.last_undone", args{"Command": written})
	case d.Last:
		return w.Text("not_recorded.last_match", args{"Command": written})
	default:
		return written
	}
}

// reportedSide returns the players of a side as reported. Of a large side, it returns the first few
// and counts the others.
func (w words) reportedSide(r ranking.NamedResult, side int) string {
	return w.side(namesAs(r.Sides[side], showName), maxSideNames, shortSideNames) + w.standIns(r.StandIns[side])
}
