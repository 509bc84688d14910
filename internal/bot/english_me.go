package bot

import (
	"fmt"
	"strings"

	"elobot/internal/stats"
)

func (english) myStanding(n stats.MyStanding) string {
	if n.Position == 0 {
		return notRanked(n)
	}
	lines := []string{
		fmt.Sprintf("<b>%s</b>, you are number <b>%d</b> of %d with a rating of %d.", showName(n.Name), n.Position, n.Total, n.Elo),
		fmt.Sprintf("Best: %d", n.Best),
		fmt.Sprintf("Won–drawn–lost: %d–%d–%d", n.Won, n.Drawn, n.Lost),
	}
	switch {
	case n.Streak > 1:
		lines = append(lines, fmt.Sprintf("%d wins in a row", n.Streak))
	case n.Streak < -1:
		lines = append(lines, fmt.Sprintf("%d losses in a row", -n.Streak))
	}
	return strings.Join(lines, "\n")
}

func (english) myStandingLine(n stats.MyStanding) string {
	if n.Position == 0 {
		return notRanked(n)
	}
	return fmt.Sprintf("%s is number %d of %d with a rating of %d", showName(n.Name), n.Position, n.Total, n.Elo)
}

func notRanked(n stats.MyStanding) string {
	if n.Left {
		return fmt.Sprintf("You left this group, so the ranking does not show you until you play again or send "+
			"<code>/join</code>. Your rating is still %d.", n.Elo)
	}
	return "You have not played here yet. Report your first match: " + formMatch
}

func (english) myStandings(n stats.MyStandings) string {
	if len(n.Groups) == 0 {
		return "You’re not ranked in any group that I am in. Add me to the one where you play with the button below, " +
			"and report a match there: " + formMatch
	}
	var b strings.Builder
	b.WriteString("<b>Where you stand</b>\n")
	for _, g := range n.Groups {
		title := "Unnamed group"
		if g.Title != "" {
			title = showText(g.Title)
		}
		fmt.Fprintf(&b, "<b>%s</b> %d of %d · %d · %d–%d–%d\n", title, g.Position, g.Total, g.Elo, g.Won, g.Drawn, g.Lost)
	}
	switch {
	case n.More == 1:
		b.WriteString("and 1 more group\n")
	case n.More > 1:
		fmt.Fprintf(&b, "and %d more groups\n", n.More)
	}
	b.WriteString("<i>place · rating · won–drawn–lost</i>")
	return b.String()
}
