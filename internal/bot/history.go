package bot

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"elobot/internal/command"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// The codes of the buttons in this file.
const (
	matchesCode = "m"
	historyCode = "h"
)

func matchesFeature() feature {
	return feature{
		commands: []Command{
			{
				Name: "matches", Aliases: []string{"games", "results"},
				Where: InGroups, Handle: (*Router).matches, Topic: aboutStatistics, Help: true, Menu: InGroups,
			},
			{
				Name: "history", Where: InGroups, Handle: (*Router).history, Topic: aboutStatistics, Help: true, Menu: InGroups,
			},
		},
		callbacks: []Callback{
			asking(matchesCode, "matches", parseMatchTurn, func(at stats.Paging) stats.Query { return stats.MatchesQuery{At: at} }),
			asking(historyCode, "history", parseHistoryTurn, func(t historyTurn) stats.Query {
				return stats.HistoryPageQuery{Player: t.player, At: t.at}
			}),
		},
	}
}

// matches handles "/matches", and "/matches @bob" like "/history @bob". Who reports a result with it means /match.
func (r *Router) matches(ctx context.Context, req request) error {
	if req.command.Args == "" && len(req.command.Mentions) == 0 {
		return r.stats.Show(ctx, req.origin, stats.MatchesQuery{})
	}
	return r.stats.Show(ctx, req.origin, stats.HistoryQuery{Who: func(everybody []ranking.Person) ([]ranking.Person, ranking.Notice) {
		if _, err := req.parseNames(everybody); err == nil {
			return nil, UnknownCommand{Meant: req.message.corrected(command.NameMatch)}
		}
		return req.meant(1, nil)(everybody)
	}})
}

// history handles "/history" and "/history @bob". An anonymous admin, who has no history, gets the matches of the group.
func (r *Router) history(ctx context.Context, req request) error {
	return r.stats.Show(ctx, req.origin, stats.HistoryQuery{Who: req.meant(1, req.origin.Sender)})
}

// matchButtons returns the buttons that show the pages before and after one.
func matchButtons(n stats.MatchPage, _ outbox.Item, _ words) [][]button {
	var before, after string
	if n.Newer {
		before = matchTurnData(stats.Paging{Key: int64(n.Rows[0].Number), Newer: true})
	}
	if n.Older {
		after = matchTurnData(stats.Paging{Key: int64(n.Rows[len(n.Rows)-1].Number)})
	}
	return turnRow(before, after)
}

// historyButtons returns the buttons that show the pages before and after one, and how the player is doing.
func historyButtons(n stats.HistoryPage, _ outbox.Item, w words) [][]button {
	if len(n.Rows) == 0 {
		return nil
	}
	var before, after string
	if n.Newer {
		before = historyTurn{n.Name.Player, stats.Paging{Key: int64(n.Rows[0].Match), Newer: true}}.data()
	}
	if n.Older {
		after = historyTurn{n.Name.Player, stats.Paging{Key: int64(n.Rows[len(n.Rows)-1].Match)}}.data()
	}
	player := []button{{text: w.Text("button.stats", nil), data: playerData(playerCode, n.Name.Player)}}
	return append(turnRow(before, after), player)
}

// matchTurnData returns the data of a button for a page of a group's matches. Other views may have one for the first page.
func matchTurnData(at stats.Paging) string {
	return callbackData(matchesCode, cmp.Or(showPaging(at), firstPage))
}

// firstPage is the first page of a group's matches in the data of a button.
const firstPage = "0"

// showPaging writes a page in the data of a button: nothing for the first one, else the match before or after which it comes.
func showPaging(at stats.Paging) string {
	switch {
	case at.Key == 0:
		return ""
	case at.Newer:
		return "n" + strconv.FormatInt(at.Key, 10)
	default:
		return "o" + strconv.FormatInt(at.Key, 10)
	}
}

// parsePaging reads what showPaging writes. ok is false for all else.
func parsePaging(args string) (at stats.Paging, ok bool) {
	if args == "" {
		return at, true
	}
	at.Newer = args[0] == 'n'
	at.Key, ok = parseID[int64](args[1:])
	return at, ok && at.Key > 0 && (at.Newer || args[0] == 'o')
}

// parseMatchTurn reads the arguments that matchTurnData writes. ok is false for all others, and for numbers that no match can have.
func parseMatchTurn(args string) (at stats.Paging, ok bool) {
	if args == firstPage {
		return at, true
	}
	if at, ok = parsePaging(args); ok && at.Key > 0 {
		_, ok = wholeNumber(args[1:])
	}
	return at, ok && at.Key > 0
}

// historyTurn says which page of whose matches a button shows. Other views may have a button for the first page.
type historyTurn struct {
	player ranking.PlayerID
	at     stats.Paging
}

func (t historyTurn) data() string {
	args := strconv.FormatInt(int64(t.player), 10)
	if paging := showPaging(t.at); paging != "" {
		args += ":" + paging
	}
	return callbackData(historyCode, args)
}

// parseHistoryTurn reads the arguments that data writes. ok is false for all others.
func parseHistoryTurn(args string) (t historyTurn, ok bool) {
	player, paging, isPaged := strings.Cut(args, ":")
	if t.player, ok = parseID[ranking.PlayerID](player); !ok || t.player == 0 || isPaged && paging == "" {
		return t, false
	}
	t.at, ok = parsePaging(paging)
	return t, ok
}

var _ = shows(view[stats.MatchPage]{text: words.matchPage, table: words.matchTable, buttons: matchButtons})

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

var _ = shows(view[stats.HistoryPage]{text: words.historyPage, table: words.historyTable, buttons: historyButtons})

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
