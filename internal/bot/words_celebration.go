package bot

import (
	"strings"

	"elobot/internal/ranking"
)

// celebration says what is special about a match, on a line of its own. It is empty for a kind of a newer release.
func (w words) celebration(c *ranking.Celebration) string {
	if c == nil || len(c.Players) == 0 {
		return ""
	}
	names := w.celebrated(c.Players)
	switch c.Kind {
	case ranking.NewNumberOne:
		return w.Text("celebration.number_one", args{"Name": names}) + "\n"
	case ranking.UpsetOfMonth:
		return w.Text("celebration.upset", args{"Names": names, "Points": c.Number}) + "\n"
	case ranking.PersonalBest:
		return w.Text("celebration.best", args{"Name": names, "Rating": c.Number}) + "\n"
	case ranking.WinningStreak:
		return w.Text("celebration.streak", args{"Name": names, "Wins": c.Number}) + "\n"
	default:
		return ""
	}
}

// celebrated returns the names of one side in bold, or the first of them and the number of the others: above them, the card has
// already named them all.
func (w words) celebrated(players []ranking.Name) string {
	var names []string
	for _, p := range players[:min(len(players), shortSideNames)] {
		names = append(names, "<b>"+showName(p)+"</b>")
	}
	list := strings.Join(names, " &amp; ")
	if others := len(players) - len(names); others > 0 {
		return w.Plural("names.others", others, args{"Names": list})
	}
	return list
}
