package bot

import (
	"fmt"
	"strings"

	"elobot/internal/ranking"
	"elobot/internal/stats"
)

func winsDrawsLosses(won, drawn, lost int) string {
	return fmt.Sprintf("%d–%d–%d", won, drawn, lost)
}

func (w words) joined(n ranking.Joined) string {
	with := args{"Name": showName(n.Name), "Rating": n.Elo}
	switch {
	case !n.Already:
		return w.Text("join.new", with)
	case n.Back && n.Played == 0:
		return w.Text("join.back_not_played", with)
	case n.Back:
		return w.Text("join.back", with)
	case n.Played == 0:
		return w.Text("join.not_played", with)
	default:
		return w.Text("join.already", with)
	}
}

func (w words) myStandings(n stats.MyStandings) string {
	if len(n.Groups) == 0 {
		return w.Text("me.nowhere", nil)
	}
	lines := []string{w.Text("me.groups", nil)}
	for _, g := range n.Groups {
		lines = append(lines, w.groupStanding(g))
	}
	if n.More > 0 {
		lines = append(lines, w.Plural("me.more_groups", n.More, nil))
	}
	return strings.Join(append(lines, "<i>"+w.Text("me.legend", nil)+"</i>"), "\n")
}

// groupStanding is the line of one group. A newcomer has no place yet, and neither has somebody who does not play any more.
func (w words) groupStanding(g stats.GroupStanding) string {
	title := w.Text("me.unnamed", nil)
	if g.Title != "" {
		title = showText(g.Title)
	}
	place := w.Text("me.place", args{"Place": g.Position, "Total": g.Total})
	switch {
	case g.Position > 0:
	case g.Played() < stats.MinMatches:
		place = w.newcomer(g.Played())
	default:
		place = w.Text("me.away", nil)
	}
	return w.Text("me.group", args{
		"Title": title, "Place": place, "Rating": g.Elo, "Results": wonLost(g.Won, g.Drawn, g.Lost, g.NoDraws),
	})
}
