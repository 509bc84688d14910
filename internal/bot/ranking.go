package bot

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"elobot/internal/outbox"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// turnButtons returns the buttons for the previous and the next page, and for the web board.
// Notices without a page number, such as the notices of older releases, get no buttons to turn the
// page.
func turnButtons(n stats.RankingPage, _ outbox.Item, w words) [][]button {
	var before, after string
	first, last := n.Bounds()
	if n.Page > 1 {
		before = pageData(stats.RankingQuestion{Page: n.Page - 1, Asker: n.Asker, All: n.All})
	}
	if n.Page > 0 && first <= last && last < n.Total {
		after = pageData(stats.RankingQuestion{Page: n.Page + 1, Asker: n.Asker, All: n.All})
	}
	return [][]button{turnRow(before, after), w.webButton(n.Web)}
}

// allSuffix ends the data of a button for a ranking that includes inactive players.
const allSuffix = ":all"

// pageData returns the data of a button for a page of the ranking, as in 1p:2:1001:all.
func pageData(q stats.RankingQuestion) string {
	args := fmt.Sprintf("%d:%d", q.Page, q.Asker)
	if q.All {
		args += allSuffix
	}
	return callbackData(pageCode, args)
}

// parsePage parses the arguments that pageData writes. ok is false for other text, and for numbers
// out of range.
func parsePage(args string) (q stats.RankingQuestion, ok bool) {
	q.All = strings.HasSuffix(args, allSuffix)
	_, _ = fmt.Sscanf(args, "%d:%d", &q.Page, &q.Asker)
	return q, 0 < q.Page && q.Page <= math.MaxInt32 && q.Asker >= 0 && pageData(q) == callbackData(pageCode, args)
}

// mine marks the line of the member who asked for the ranking, no matter who turns its pages.
const mine = "▸ "

// moves is the heading of the column for changes of place.
const moves = "▲▼"

var _ = shows(view[stats.RankingPage]{text: words.rankingPage, table: words.rankingTable, buttons: turnButtons})

func (w words) rankingPage(n stats.RankingPage) string {
	switch {
	case len(n.Rows) == 0 && n.Hidden == 0 && n.Season > 0:
		return w.inLadder(w.Text("ranking.empty_season",
			args{"Season": w.seasonName(n.Season, ""), "Ladder": w.ladderWords()}))
	case len(n.Rows) == 0 && n.Hidden == 0:
		return w.inLadder(w.Text("ranking.empty", args{"Ladder": w.ladderWords()}))
	}
	lines := []string{w.titleOf("ranking.title", n.Title)}
	if len(n.Rows) == 0 {
		lines = append(lines, w.Text("ranking.nobody", args{"Days": hideDays(n)}))
	}
	for _, r := range n.Rows {
		lines = append(lines, w.rankingRow(n, r))
	}
	if n.Own != nil && len(n.Rows) > 0 {
		lines = append(lines, "…")
	}
	if n.Own != nil {
		lines = append(lines, w.rankingRow(n, *n.Own))
	}
	if notes := w.rankingNotes(n); len(notes) > 0 {
		lines = append(lines, "<i>"+strings.Join(notes, " · ")+"</i>")
	}
	if hidden := w.hiddenPlayers(n); hidden != "" {
		lines = append(lines, hidden)
	}
	return strings.Join(lines, "\n")
}

var _ = shows(view[stats.Gains]{text: words.gains})

// gains shows which players have gained the most rating points since a date.
func (w words) gains(n stats.Gains) string {
	title := w.titleOf("ranking.title", n.Title) + "\n" + w.Text("records.since", args{"Date": w.Date(n.Since)})
	if len(n.Rows) == 0 {
		return w.inLadder(w.Text("ranking.none_since", args{"Date": w.Date(n.Since)}))
	}
	var lines []string
	for _, r := range n.Rows {
		lines = append(lines, fmt.Sprintf("%s · <b>%s</b> · %s",
			boldName(r.Name), signed(r.Gained), winsDrawsLosses(r.Won, r.Drawn, r.Lost)))
	}
	return paragraphs([]string{title}, lines, []string{notes(w.Text("ranking.won_drawn_lost", nil))})
}

// rankingRow returns the line of a player, as in "4. Alice 1516 · 12–5 ▲2".
func (w words) rankingRow(n stats.RankingPage, r stats.Row) string {
	place := medal(n, r)
	if r.Position > len(medals) {
		place += "."
	}
	name, rest := showName(r.Name), fmt.Sprintf(" %d · %s", r.Elo, wonLost(r.Won, r.Drawn, r.Lost, n.NoDraws))
	if r.Moved != 0 {
		rest += " " + movedBy(r)
	}
	if r.Inactive {
		rest += " · " + w.inactive(n)
	}
	if r.Mine {
		return "<b>" + mine + place + " " + name + rest + "</b>"
	}
	return place + " <b>" + name + "</b>" + rest
}

var medals = [...]string{"🥇", "🥈", "🥉"}

// newMark replaces the place of newcomers.
const newMark = "?"

// medal returns a player's place, as a medal for the first three, or a symbol if the player has no
// place.
func medal(n stats.RankingPage, r stats.Row) string {
	switch {
	case r.Inactive:
		return "–"
	case r.Position > len(medals):
		return strconv.Itoa(r.Position)
	case r.Position > 0:
		return medals[r.Position-1]
	case n.IsNew(r):
		return newMark
	default:
		return "•"
	}
}

func movedBy(r stats.Row) string {
	if r.Moved < 0 {
		return fmt.Sprintf("▼%d", -r.Moved)
	}
	return fmt.Sprintf("▲%d", r.Moved)
}

// inactive says that a player has had no match for the number of days after which players are
// hidden.
func (w words) inactive(n stats.RankingPage) string {
	return w.Text("ranking.inactive", args{"Days": hideDays(n)})
}

// hideDays returns the number of days without a match after which a ranking hides a player. It must
// be called only for a ranking that hides players. For a notice of an older release, which lacks
// the number, it returns the default.
func hideDays(n stats.RankingPage) int { return cmp.Or(n.HideDays, ranking.DefaultRules().HideDays) }

// rankingNotes returns the most important remarks about the rows of a page: at most two, or one if
// hiddenPlayers adds another.
func (w words) rankingNotes(n stats.RankingPage) []string {
	if len(n.Rows) == 0 {
		return nil
	}
	var notes []string
	if n.Total > len(n.Rows) {
		notes = append(notes, w.shownPlayers(n))
	}
	places := w.placesBegin(n.PlaceMatches, n.Unplaced)
	switch hasNew := slices.ContainsFunc(n.Rows, n.IsNew) || n.Own != nil && !n.Own.Inactive && n.IsNew(*n.Own); {
	case hasNew:
		notes = append(notes, newMark+" "+places)
	case n.Unplaced:
		notes = append(notes, places)
	}
	legend := "ranking.won_drawn_lost"
	if n.NoDraws {
		legend = "ranking.won_lost"
	}
	notes = append(notes, w.Text(legend, nil))
	if !n.Since.IsZero() {
		notes = append(notes, w.Text("ranking.moved", args{"Date": w.Date(n.Since)}))
	}
	return notes[:min(len(notes), 2-min(n.Hidden, 1))]
}

// placesBegin says how many matches a player needs for a place. unplaced means that no player has a
// place yet.
func (w words) placesBegin(matches int, unplaced bool) string {
	if unplaced {
		return w.Plural("ranking.no_places", matches, nil)
	}
	return w.Plural("ranking.place_after", matches, nil)
}

// shownPlayers says which players a page shows, out of how many.
func (w words) shownPlayers(n stats.RankingPage) string {
	first, last := n.Bounds()
	if first == last {
		return w.Plural("ranking.one_of", n.Total, args{"First": first})
	}
	return w.Plural("ranking.some_of", n.Total, args{"First": first, "Last": last})
}

// hiddenPlayers says how many players are hidden. It returns an empty string if none are.
func (w words) hiddenPlayers(n stats.RankingPage) string {
	if n.Hidden == 0 {
		return ""
	}
	return w.Plural("ranking.hidden", n.Hidden, args{"Days": hideDays(n)})
}

// rankingTable is the table form of rankingPage. It is empty for a page without rows.
func (w words) rankingTable(n stats.RankingPage) string {
	if len(n.Rows) == 0 {
		return ""
	}
	t := newTable(w.titleOf("ranking.title", n.Title))
	label := "table.results"
	if n.NoDraws {
		label = "table.results_without_draws"
	}
	columns := 4
	if !n.Since.IsZero() {
		columns = 5
	}
	row := func(cells ...string) { t.row(cells[:columns]...) }
	row(header(numberCell(w.Text("table.position", nil))), header(textCell(w.Text("table.player", nil))),
		header(numberCell(w.Text("table.rating", nil))), header(numberCell(w.Text(label, nil))), header(numberCell(moves)))
	for _, r := range n.Rows {
		row(w.tableCells(n, r)...)
	}
	if n.Own != nil {
		row(textCell("…"), textCell(""), textCell(""), textCell(""), textCell(""))
		row(w.tableCells(n, *n.Own)...)
	}
	notes := w.rankingNotes(n)
	if hidden := w.hiddenPlayers(n); hidden != "" {
		notes = append(notes, hidden)
	}
	return t.end(strings.Join(notes, " · "))
}

// tableCells returns the cells of a player's row, always with the column of moves.
func (w words) tableCells(n stats.RankingPage, r stats.Row) []string {
	place, name, rating := medal(n, r), "<b>"+showName(r.Name)+"</b>", strconv.Itoa(r.Elo)
	if r.Mine {
		place, rating = "<b>"+mine+place+"</b>", "<b>"+rating+"</b>"
	}
	if r.Inactive {
		name += " · " + w.inactive(n)
	}
	moved := textCell("")
	if r.Moved != 0 {
		moved = numberCell(movedBy(r))
	}
	results := wonLost(r.Won, r.Drawn, r.Lost, n.NoDraws)
	return []string{numberCell(place), textCell(name), numberCell(rating), numberCell(results), moved}
}
