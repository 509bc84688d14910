package bot

import (
	"fmt"
	"html"
	"strings"

	"elobot/internal/command"
	"elobot/internal/ranking"
)

// notRecorded lists as many rejected results as fit into a message, and counts the others.
func (english) notRecorded(n ranking.NotRecorded) string {
	lines := []string{fmt.Sprintf("You sent more than %s in a minute, so this was <b>not</b> recorded:",
		counted(n.Limit, "result", "results"))}
	units, listed := 0, 0
	for _, item := range n.Items {
		line := "– " + rejectedResult(item)
		if units += utf16Length(plain(line)) + len("\n"); units > maxText-2*tailUnits {
			break
		}
		lines = append(lines, line)
		listed++
	}
	if more := len(n.Items) - listed + n.More; more > 0 {
		lines = append(lines, fmt.Sprintf("…and <b>%d more</b>", more))
	}
	return strings.Join(lines, "\n") + fmt.Sprintf("\n\nPlease send it again later: I record at most %s a minute.",
		counted(n.Limit, "result", "results"))
}

// rejectedResult returns a line about a result that was not recorded, undone or corrected.
func rejectedResult(d ranking.RejectedResult) string {
	text := "<code>/" + d.Command + "</code>"
	sets := make([]string, len(d.Sets))
	for i, s := range d.Sets {
		sets[i] = showScore(s)
	}
	switch {
	case d.Malformed:
		return text + ", which I could not read either"
	case len(d.Sides[0]) > 0:
		text = reportedSide(d.Sides[0]) + " – " + reportedSide(d.Sides[1]) + " " + showScore(d.Score)
		if len(sets) > 0 {
			text += " (" + strings.Join(sets, " ") + ")"
		}
		return text
	case d.Number != 0:
		text = fmt.Sprintf("<code>/%s %d</code>", d.Command, d.Number)
	case d.Last && d.Command == command.NameRestore:
		text += " of the last match you undid"
	case d.Last:
		text += " of your last match"
	}
	switch {
	case len(sets) > 0:
		text += " to " + strings.Join(sets, " ")
	case d.Command == "fix":
		text += " to " + showScore(d.Score)
	}
	return text
}

// reportedSide returns the players of a side as reported, or the first of them and the number of the others.
func reportedSide(players []ranking.Name) string {
	side := ranking.Side{Players: make([]ranking.RatingChange, len(players))}
	for i, name := range players {
		side.Players[i].Name = name
	}
	return plainSide(side)
}

func counted(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}

func (english) fixOffer(n ranking.FixOffer) string {
	scores := func(score [2]int, sets []ranking.SetScore) string { return showScore(score) + brackets(showSets(sets)) }
	return fmt.Sprintf("Your <code>/match</code> now says %s, but match #%d still counts as %s. "+
		"To correct it, reply to your <code>/match</code>: <code>/fix %s</code>",
		scores(n.Score, n.Sets), n.Number, scores(n.Was.Score, n.Was.Sets), strings.Join(offeredScores(n), " "))
}

// fixTo returns the label of the button that corrects a match.
func (english) fixTo(n ranking.FixOffer) string {
	return "Fix to " + strings.Join(offeredScores(n), " ") + "?"
}

func (english) commandFailed(n CommandFailed) string {
	if n.Command == "" {
		return "Something went wrong on my side, so this was not done. The operator of this bot can see why."
	}
	return "Something went wrong on my side, so <code>" + html.EscapeString(cleanName(n.Command)) +
		"</code> was not done. The operator of this bot can see why and retry it."
}
