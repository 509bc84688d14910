package bot

import (
	"fmt"
	"strings"

	"elobot/internal/ranking"
	"elobot/internal/stats"
)

func (w words) rankingPage(n stats.RankingPage) string {
	if len(n.Rows) == 0 {
		return w.Text("ranking.empty", nil)
	}
	lines := []string{w.rankingTitle(n)}
	for _, r := range n.Rows {
		lines = append(lines, rankingRow(r))
	}
	if n.Own != nil {
		lines = append(lines, "…", rankingRow(*n.Own))
	}
	return strings.Join(append(lines, "<i>"+w.shownPlayers(n)+"</i>"), "\n")
}

func (w words) rankingTitle(n stats.RankingPage) string {
	if n.Title == "" {
		return w.Text("ranking.title", nil)
	}
	return w.Text("ranking.title_of", args{"Title": showText(n.Title)})
}

// shownPlayers says which players a page shows, out of how many.
func (w words) shownPlayers(n stats.RankingPage) string {
	switch first, last := n.Bounds(); {
	case n.Total <= len(n.Rows):
		return w.Plural("ranking.players", max(n.Total, 1), nil)
	case first == last:
		return w.Plural("ranking.one_of", n.Total, args{"First": first})
	default:
		return w.Plural("ranking.some_of", n.Total, args{"First": first, "Last": last})
	}
}

func rankingRow(r stats.Row) string {
	return fmt.Sprintf("%d. <b>%s</b> %d · %s", r.Position, showName(r.Name), r.Elo, winsDrawsLosses(r.Won, r.Drawn, r.Lost))
}

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

func (w words) myStanding(n stats.MyStanding) string {
	if n.Position == 0 {
		return w.notRanked(n)
	}
	id := "me.standing"
	if n.Other {
		id = "me.standing_of"
	}
	lines := []string{
		w.Text(id, standingArgs(n)),
		w.Text("me.best", args{"Rating": n.Best}),
		w.Text("me.results", args{"Results": winsDrawsLosses(n.Won, n.Drawn, n.Lost)}),
	}
	if streak := w.streak(n); streak != "" {
		lines = append(lines, streak)
	}
	return strings.Join(lines, "\n")
}

// streak says how many matches a player has won or lost in a row, or nothing.
func (w words) streak(n stats.MyStanding) string {
	switch {
	case n.Streak > 1:
		return w.Plural("me.wins", n.Streak, nil)
	case n.Streak < -1:
		return w.Plural("me.losses", -n.Streak, nil)
	default:
		return ""
	}
}

func (w words) myStandingLine(n stats.MyStanding) string {
	if n.Position == 0 {
		return w.notRanked(n)
	}
	return w.Text("me.line", standingArgs(n))
}

func standingArgs(n stats.MyStanding) args {
	return args{"Name": showName(n.Name), "Place": n.Position, "Total": n.Total, "Rating": n.Elo}
}

func (w words) notRanked(n stats.MyStanding) string {
	switch {
	case n.Other && n.Left:
		return w.Text("me.left_of", args{"Name": showName(n.Name), "Rating": n.Elo})
	case n.Other:
		return w.Text("me.not_played_of", args{"Name": showName(n.Name)})
	}
	if n.Left {
		return w.Text("me.left", args{"Rating": n.Elo})
	}
	return w.Text("me.not_played", nil)
}

func (w words) myStandings(n stats.MyStandings) string {
	if len(n.Groups) == 0 {
		return w.Text("me.nowhere", nil)
	}
	lines := []string{w.Text("me.groups", nil)}
	for _, g := range n.Groups {
		title := w.Text("me.unnamed", nil)
		if g.Title != "" {
			title = showText(g.Title)
		}
		lines = append(lines, w.Text("me.group", args{
			"Title": title, "Place": g.Position, "Total": g.Total, "Rating": g.Elo, "Results": winsDrawsLosses(g.Won, g.Drawn, g.Lost),
		}))
	}
	if n.More > 0 {
		lines = append(lines, w.Plural("me.more_groups", n.More, nil))
	}
	return strings.Join(append(lines, "<i>"+w.Text("me.legend", nil)+"</i>"), "\n")
}
