package bot

import (
	"strconv"
	"strings"

	"elobot/internal/command"
	"elobot/internal/ranking"
)

// notListedUnits is the room for what a message about results that were not recorded says around their list.
const notListedUnits = 512

// notRecorded lists as many rejected results as fit into a message, and counts the others.
func (w words) notRecorded(n ranking.NotRecorded) string {
	lines := []string{w.Plural("not_recorded.title", n.Limit, nil)}
	units, listed := 0, 0
	for _, item := range n.Items {
		line := "• " + w.rejectedResult(item)
		if units += utf16Length(plain(line)) + len("\n"); units > maxText-notListedUnits {
			break
		}
		lines = append(lines, line)
		listed++
	}
	if more := len(n.Items) - listed + n.More; more > 0 {
		lines = append(lines, w.Plural("not_recorded.more", more, nil))
	}
	return strings.Join(append(lines, "", w.Plural("not_recorded.again", n.Limit, nil)), "\n")
}

// rejectedResult returns a line about a result that was not recorded, undone or corrected.
func (w words) rejectedResult(d ranking.RejectedResult) string {
	if len(d.Sides[0]) > 0 {
		return w.Text("not_recorded.result", args{
			"A": w.reportedSide(d.Sides[0]), "B": w.reportedSide(d.Sides[1]), "Score": showScore(d.Score) + brackets(showSets(d.Sets)),
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
		parts = append(parts, showScore(d.Score))
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

// reportedSide returns the players of a side as reported, or the first of them and the number of the others.
func (w words) reportedSide(players []ranking.Name) string {
	side := ranking.Side{Players: make([]ranking.RatingChange, len(players))}
	for i, name := range players {
		side.Players[i].Name = name
	}
	return w.plainSide(side)
}

func (w words) fixOffer(n ranking.FixOffer) string {
	scores := func(score [2]int, sets []ranking.SetScore) string { return showScore(score) + brackets(showSets(sets)) }
	return w.Text("fix_offer.card", args{
		"Number": n.Number, "New": scores(n.Score, n.Sets), "Old": scores(n.Was.Score, n.Was.Sets),
		"Scores": strings.Join(offeredScores(n), " "),
	})
}

// fixTo returns the label of the button that corrects a match.
func (w words) fixTo(n ranking.FixOffer) string {
	return w.Text("button.fix", args{"Scores": strings.Join(offeredScores(n), " ")})
}
