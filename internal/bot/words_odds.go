package bot

import (
	"slices"
	"strings"

	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// odds says what to expect of each side, and how the ratings would change.
func (w words) odds(n stats.Odds) string {
	lines := []string{
		w.oddsSide(n.Sides[0], n.Expected, n.Draws),
		w.oddsSide(n.Sides[1], 100-n.Expected, n.Draws),
	}
	var remarks []string
	if n.Margin {
		remarks = append(remarks, w.Text("odds.narrow", nil))
	}
	var newcomers []ranking.Name
	for _, side := range n.Sides {
		for _, p := range side {
			if p.New {
				newcomers = append(newcomers, p.Name)
			}
		}
	}
	switch count := len(newcomers); {
	case count > maxNewNames:
		remarks = append(remarks, w.Text("odds.new", args{"Names": w.Plural("ranking.players", count, nil)}))
	case count > 0:
		shown := make([]string, count)
		for i, name := range newcomers {
			shown[i] = shortName(name)
		}
		remarks = append(remarks, w.Text("odds.new", args{"Names": strings.Join(shown, ", ")}))
	}
	if len(remarks) > 0 {
		lines = append(lines, notes(remarks...))
	}
	return strings.Join(lines, "\n")
}

// oddsSide returns a side with its rating, and the changes: those of all members, or of those who have the same.
func (w words) oddsSide(side []stats.OddsPlayer, expected int, draws bool) string {
	sum := 0
	names := make([]ranking.Name, len(side))
	for i, p := range side {
		sum += p.Elo
		names[i] = p.Name
	}
	head := w.Text("odds.side", args{
		"Names": "<b>" + shortNames(names) + "</b>", "Rating": (sum + len(side)/2) / len(side), "Percent": expected,
	})
	var all []string // different changes
	var who [][]ranking.Name
	for _, p := range side {
		changes := w.changes(p, draws)
		at := slices.Index(all, changes)
		if at < 0 {
			at = len(all)
			all, who = append(all, changes), append(who, nil)
		}
		who[at] = append(who[at], p.Name)
	}
	if len(all) == 1 {
		return head + " · " + all[0]
	}
	lines := []string{head}
	for i, changes := range all {
		lines = append(lines, "• "+shortNames(who[i])+": "+changes)
	}
	return strings.Join(lines, "\n")
}

// changes says how a match would change a rating.
func (w words) changes(p stats.OddsPlayer, draws bool) string {
	with := args{"Win": signed(p.Win), "Lose": signed(p.Lose)}
	if !draws {
		return w.Text("odds.changes", with)
	}
	with["Draw"] = signed(p.Draw)
	return w.Text("odds.changes_draw", with)
}

func (w words) teams(n stats.Teams) string {
	title := w.Text("odds.best_teams", nil)
	if n.Number > 1 {
		title = w.Text("odds.next_teams", args{"Number": w.Number(n.Number), "Of": w.Number(n.Of)})
	}
	return title + "\n" + w.odds(n.Odds)
}
