package bot

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"elobot/internal/command"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// matches handles "/matches", and "/matches @bob" like "/history @bob". Who reports a result with it means /match.
func (r *Router) matches(ctx context.Context, req request) error {
	if req.command.Args == "" && len(req.command.Mentions) == 0 {
		return r.stats.ShowMatches(ctx, req.origin)
	}
	return r.stats.ShowHistory(ctx, req.origin, func(everybody []ranking.Person) ([]ranking.Person, ranking.Notice) {
		if _, err := req.parseNames(everybody); err == nil {
			return nil, UnknownCommand{Meant: req.message.corrected(command.NameMatch)}
		}
		return req.meant(1, nil)(everybody)
	})
}

// history handles "/history" and "/history @bob". An anonymous admin, who has no history, gets the matches of the group.
func (r *Router) history(ctx context.Context, req request) error {
	return r.stats.ShowHistory(ctx, req.origin, req.meant(1, req.origin.Sender))
}

// matchButtons returns the buttons that show the pages before and after one.
func matchButtons(n stats.MatchPage) [][]button {
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
func historyButtons(n stats.HistoryPage, w words) [][]button {
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

// turnMatches handles the buttons that turn the pages of a group's matches.
func (r *Router) turnMatches(ctx context.Context, p press, at stats.Paging) error {
	return r.stats.TurnMatches(ctx, p.origin, p.query.Message.ID, at)
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

// turnHistory handles the buttons that turn the pages of a player's matches.
func (r *Router) turnHistory(ctx context.Context, p press, t historyTurn) error {
	return r.stats.TurnHistory(ctx, p.origin, p.query.Message.ID, t.player, t.at)
}
