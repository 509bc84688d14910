package bot

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// turnButtons returns the buttons that show the pages before and after this one. A notice without the number of its page is
// of a release that had no such buttons.
func turnButtons(n stats.RankingPage) [][]button {
	var row []button
	first, last := n.Bounds()
	if n.Page > 1 {
		row = append(row, button{text: "‹", data: pageData(n.Page-1, n.Asker)})
	}
	if n.Page > 0 && first <= last && last < n.Total {
		row = append(row, button{text: "›", data: pageData(n.Page+1, n.Asker)})
	}
	if row == nil {
		return nil
	}
	return [][]button{row}
}

// pageData returns the data of the button that shows a page of the ranking. asker is who asked for the ranking, 0 for an
// anonymous admin.
func pageData(page int, asker ranking.UserID) string {
	return callbackData(pageCode, fmt.Sprintf("%d:%d", page, asker))
}

// pageOf returns the page that a button shows, and who asked for the ranking. ok is false for data that pageData does not
// produce.
func pageOf(data string) (page int, asker ranking.UserID, ok bool) {
	args, ok := argsOf(pageCode, data)
	number, who, _ := strings.Cut(args, ":")
	n, err := strconv.ParseInt(number, 10, 32)
	id, idErr := strconv.ParseInt(who, 10, 64)
	if !ok || err != nil || idErr != nil || n <= 0 || id < 0 || pageData(int(n), ranking.UserID(id)) != data {
		return 0, 0, false
	}
	return int(n), ranking.UserID(id), true
}

// pressPage handles the buttons that turn pages. It edits only messages that have such buttons: forged data must not replace
// the card of a match.
func (r *Router) pressPage(ctx context.Context, p press) error {
	page, asker, ok := pageOf(p.query.Data)
	turns := func(data string) bool {
		_, _, ok := pageOf(data)
		return ok
	}
	if !ok || !slices.ContainsFunc(r.buttonsBelow(p.query.Message), turns) {
		return r.unknownButton(ctx, p.origin)
	}
	return r.stats.TurnRanking(ctx, p.origin, p.query.Message.ID, asker, page)
}
