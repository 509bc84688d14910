package bot

import (
	"strconv"
	"strings"

	"elobot/internal/ranking"
	"elobot/internal/stats"
)

func (w words) matchPage(n stats.MatchPage) string {
	if len(n.Rows) == 0 {
		return w.Text("ranking.empty", nil)
	}
	return w.matchesTitle(n) + "\n" + w.matchRows(n.Rows)
}

func (w words) matchesTitle(n stats.MatchPage) string {
	if n.Title == "" {
		return w.Text("matches.title", nil)
	}
	return w.Text("matches.title_of", args{"Title": showText(n.Title)})
}

func (w words) historyPage(n stats.HistoryPage) string {
	switch {
	case n.Name == ranking.Name{}:
		return w.Text("me.not_played", nil)
	case len(n.Rows) == 0:
		return w.Text("me.not_played_of", args{"Name": showName(n.Name)})
	}
	return w.historyTitle(n) + "\n" + w.matchRows(n.Rows)
}

func (w words) historyTitle(n stats.HistoryPage) string {
	return w.Text("matches.of_player", args{"Name": showName(n.Name)})
}

// matchRows returns matches, one per line, under their days.
func (w words) matchRows(rows []stats.MatchRow) string {
	var lines []string
	for i, r := range rows {
		if w.isNewDay(rows, i) {
			lines = append(lines, "<i>"+w.Date(r.Played)+"</i>")
		}
		change := ""
		if r.Change != nil {
			change = " · <b>" + signed(*r.Change) + "</b>"
		}
		lines = append(lines, w.matchNumber(r.Number)+" "+w.matchRow(r, change))
	}
	return strings.Join(lines, "\n")
}

// isNewDay reports whether the i-th match is the first one of its day.
func (w words) isNewDay(rows []stats.MatchRow, i int) bool {
	return i == 0 || w.Date(rows[i].Played) != w.Date(rows[i-1].Played)
}

// matchRow returns a match with the change of a rating, which may be empty, and what has become of it.
func (w words) matchRow(r stats.MatchRow, change string) string {
	text := w.Text("outcome.result", args{"A": w.shortSide(r.Sides[0]), "B": w.shortSide(r.Sides[1]), "Score": showScore(r.Score)})
	switch {
	case r.Undone:
		return "<s>" + text + "</s>" + change + " · " + w.Text("note.undone", nil)
	case r.Was == nil:
		return text + change
	case *r.Was == r.Score:
		return text + change + " · " + w.Text("note.sets_corrected", nil)
	default:
		return text + change + " · " + w.Text("note.corrected_from", args{"Score": showScore(*r.Was)})
	}
}

// A row of a list has room for short names only, and for two players of a side.
const (
	maxRowName  = 20
	maxRowUnits = 40
	maxRowMark  = 16
	maxRowSide  = 2
)

// shortName is showName for a row of a list.
func shortName(n ranking.Name) string {
	return showName(ranking.Name{
		Name: cut(cleanName(n.Name), maxRowName, maxRowUnits), Mark: cut(cleanName(n.Mark), maxRowMark, maxRowMark+1),
	})
}

// shortSide returns the players of a side, or the first of them and the number of the others.
func (w words) shortSide(side []ranking.Name) string {
	shown := side
	if len(side) > maxRowSide {
		shown = side[:1]
	}
	list := shortNames(shown)
	if others := len(side) - len(shown); others > 0 {
		return w.Plural("names.others", others, args{"Names": list})
	}
	return list
}

// shortNames joins names as those of a team.
func shortNames(names []ranking.Name) string {
	all := make([]string, len(names))
	for i, n := range names {
		all[i] = shortName(n)
	}
	return strings.Join(all, " &amp; ")
}

// matchTable has the contents of matchPage.
func (w words) matchTable(n stats.MatchPage) string {
	if len(n.Rows) == 0 {
		return ""
	}
	t := newTable(w.matchesTitle(n))
	t.row(header(numberCell(w.Text("table.position", nil))), header(textCell(w.Text("table.match", nil))))
	for i, r := range n.Rows {
		if w.isNewDay(n.Rows, i) {
			t.row(textCell(""), textCell("<i>"+w.Date(r.Played)+"</i>"))
		}
		t.row(numberCell(strconv.Itoa(r.Number)), textCell(w.matchRow(r, "")))
	}
	return t.end("")
}

// historyTable has the contents of historyPage.
func (w words) historyTable(n stats.HistoryPage) string {
	if len(n.Rows) == 0 {
		return ""
	}
	t := newTable(w.historyTitle(n))
	t.row(header(numberCell(w.Text("table.position", nil))), header(textCell(w.Text("table.match", nil))), header(numberCell("±")))
	for i, r := range n.Rows {
		if w.isNewDay(n.Rows, i) {
			t.row(textCell(""), textCell("<i>"+w.Date(r.Played)+"</i>"), textCell(""))
		}
		change := ""
		if r.Change != nil {
			change = signed(*r.Change)
		}
		t.row(numberCell(strconv.Itoa(r.Number)), textCell(w.matchRow(r, "")), numberCell(change))
	}
	return t.end("")
}
