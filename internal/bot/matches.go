package bot

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// matches handles /matches. If its arguments read like a result, the answer suggests /match, which
// the sender probably meant.
func matches(_ *Router, req request) ranking.Operation {
	match := UnknownCommand{Meant: req.message.corrected(command.NameMatch)}
	return ranking.Ask{Question: stats.Typed{Form: stats.MatchesCommand{Match: match}}}
}

// matchButtons returns the buttons for the previous and the next page.
func matchButtons(n stats.MatchPage, _ outbox.Item, _ words) [][]button {
	if len(n.Rows) == 0 {
		return nil
	}
	first, last := n.Rows[0].Number, n.Rows[len(n.Rows)-1].Number
	return [][]button{turnMatches(matchesCode, 0, n.Newer, n.Older, int64(first), int64(last))}
}

// historyButtons returns the buttons for the previous and the next page, and for the player's page.
func historyButtons(n stats.HistoryPage, _ outbox.Item, w words) [][]button {
	if len(n.Rows) == 0 {
		return nil
	}
	player, first, last := n.Name.Player, n.Rows[0].Match, n.Rows[len(n.Rows)-1].Match
	turn := turnMatches(historyCode, player, n.Newer, n.Older, int64(first), int64(last))
	return [][]button{turn, {{text: w.Text("button.stats", nil), data: playerData(playerCode, player)}}}
}

// turnMatches returns the buttons for newer and older matches. player is 0 for the group's matches.
// first and last identify the first and the last match on the current page: by number for the
// group's matches, and by id for a player's.
func turnMatches(code string, player ladder.PlayerID, newer, older bool, first, last int64) []button {
	data := func(is bool, at stats.Paging) string {
		if !is {
			return ""
		}
		return matchesData(code, stats.MatchesQuestion{Player: player, At: at})
	}
	return turnRow(data(newer, stats.Paging{Key: first, Newer: true}), data(older, stats.Paging{Key: last}))
}

// matchesData returns the data of a button for a page of matches: of a player, as in 1h:7 and
// 1h:7:o5, or of the group, as in 1m:0 and 1m:o5. o5 stands for the matches older than match 5, and
// n5 for the matches newer than match 5. Data with neither stands for the first page, which other
// views link to.
func matchesData(code string, q stats.MatchesQuestion) string {
	args := strconv.FormatInt(int64(q.Player), 10)
	if q.At.Key != 0 {
		args += fmt.Sprintf(":%s%d", pageSigns[q.At.Newer], q.At.Key)
	}
	if code == matchesCode {
		args = strings.TrimPrefix(args, "0:")
	}
	return callbackData(code, args)
}

// pageSigns has the sign before the match in button data: n for a page of newer matches, o for a
// page of older ones. The key is [stats.Paging.Newer].
var pageSigns = map[bool]string{true: "n", false: "o"}

// parseMatches returns a parser for the arguments that matchesData writes with this code. ok is
// false for any other arguments, and for numbers and ids out of range.
func parseMatches(code string) func(args string) (stats.MatchesQuestion, bool) {
	most := map[string]int64{matchesCode: math.MaxInt32, historyCode: math.MaxInt64}[code]
	return func(args string) (q stats.MatchesQuestion, ok bool) {
		var sign rune
		if code == matchesCode {
			_, _ = fmt.Sscanf(args, "%c%d", &sign, &q.At.Key)
		} else {
			_, _ = fmt.Sscanf(args, "%d:%c%d", &q.Player, &sign, &q.At.Key)
		}
		q.At.Newer = string(sign) == pageSigns[true]
		isOne := q.Player > 0 || code == matchesCode
		return q, isOne && 0 <= q.At.Key && q.At.Key <= most && matchesData(code, q) == callbackData(code, args)
	}
}

var _ = shows(view[stats.MatchPage]{text: words.matchPage, table: words.matchTable, buttons: matchButtons})

func (w words) matchPage(n stats.MatchPage) string {
	if len(n.Rows) == 0 && !n.Since.IsZero() {
		return w.inLadder(w.Text("ranking.none_since", args{"Date": w.Date(n.Since)}))
	}
	if len(n.Rows) == 0 {
		return w.inLadder(w.Text("ranking.empty", args{"Ladder": w.ladderWords()}))
	}
	return w.titleOf("matches.title", n.Title) + "\n" + w.matchRows(n.Rows)
}

var _ = shows(view[stats.HistoryPage]{text: words.historyPage, table: words.historyTable,
	buttons: historyButtons, ofLadder: true})

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

// matchRows lists matches under their days, one per line.
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

// isNewDay reports whether the i-th row is the first one of its day.
func (w words) isNewDay(rows []stats.MatchRow, i int) bool {
	return i == 0 || w.Date(rows[i].Played) != w.Date(rows[i-1].Played)
}

// matchRow returns a match with its rating change, which may be empty. If the match was undone, it
// says so; otherwise it says what was corrected, if anything.
func (w words) matchRow(r stats.MatchRow, change string) string {
	text := w.Text("outcome.result",
		args{"A": w.shortSide(r, 0), "B": w.shortSide(r, 1), "Score": showScore(r.Score)})
	switch {
	case r.Undone:
		return "<s>" + text + "</s>" + change + " · " + w.Text("note.undone", nil)
	case r.Was == nil:
		return text + change
	default:
		return text + change + " · " + w.correction(*r.Was, r.Score)
	}
}

// Limits for a row of a list, which has little room.
const (
	maxRowName  = 20 // characters of a name
	maxRowUnits = 40 // UTF-16 units of a name
	maxRowMark  = 16 // characters of a name's mark, which may have one UTF-16 unit more
	maxRowSide  = 2  // players of a side, including stand-ins
)

// shortName shortens a player's name for a row of a list, and renders it.
func shortName(n ranking.Name) string {
	return showName(ranking.Name{
		Name: cut(cleanName(n.Name), maxRowName, maxRowUnits), Mark: cut(cleanName(n.Mark), maxRowMark, maxRowMark+1),
	})
}

// shortSide returns the players of a side. Of a large side, it returns the first one and counts the
// others.
func (w words) shortSide(r stats.MatchRow, side int) string {
	most := max(1, maxRowSide-r.StandIns[side])
	return w.side(namesAs(r.Sides[side], shortName), most, 1) + w.standIns(r.StandIns[side])
}

// shortNames joins the shortened names of a team.
func shortNames(names []ranking.Name) string {
	return strings.Join(namesAs(names, shortName), " &amp; ")
}

func (w words) matchTable(n stats.MatchPage) string {
	return w.matchRowsTable(w.titleOf("matches.title", n.Title), n.Rows, false)
}

func (w words) historyTable(n stats.HistoryPage) string {
	return w.matchRowsTable(w.historyTitle(n), n.Rows, true)
}

// matchRowsTable lists matches under their days, with or without a column for rating changes.
func (w words) matchRowsTable(title string, rows []stats.MatchRow, changes bool) string {
	if len(rows) == 0 {
		return ""
	}
	t := newTable(title)
	row := func(cells ...string) {
		if !changes {
			cells = cells[:2]
		}
		t.row(cells...)
	}
	row(header(numberCell(w.Text("table.position", nil))),
		header(textCell(w.Text("table.match", nil))), header(numberCell("±")))
	for i, r := range rows {
		if w.isNewDay(rows, i) {
			row(textCell(""), textCell("<i>"+w.Date(r.Played)+"</i>"), textCell(""))
		}
		change := ""
		if r.Change != nil {
			change = signed(*r.Change)
		}
		row(numberCell(strconv.Itoa(r.Number)), textCell(w.matchRow(r, "")), numberCell(change))
	}
	return t.end("")
}
