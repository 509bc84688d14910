package bot

import (
	"context"
	"fmt"
	"strings"

	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// rankingTurn says which page of the ranking a button shows.
type rankingTurn struct {
	page  int
	asker ranking.UserID // who asked for the ranking, 0 for an anonymous admin
	all   bool           // with those who have not played for long
}

// turnButtons returns the buttons that show the pages before and after this one. A notice without the number of its page is
// of a release that had no such buttons.
func turnButtons(n stats.RankingPage) [][]button {
	var before, after string
	first, last := n.Bounds()
	if n.Page > 1 {
		before = rankingTurn{n.Page - 1, n.Asker, n.All}.data()
	}
	if n.Page > 0 && first <= last && last < n.Total {
		after = rankingTurn{n.Page + 1, n.Asker, n.All}.data()
	}
	return turnRow(before, after)
}

// allSuffix ends the data of a button for a ranking with those who have not played for long.
const allSuffix = ":all"

// data returns the data of the button, as in 1p:2:1001:all.
func (t rankingTurn) data() string {
	args := fmt.Sprintf("%d:%d", t.page, t.asker)
	if t.all {
		args += allSuffix
	}
	return callbackData(pageCode, args)
}

// parseRankingTurn reads the arguments that data writes. ok is false for all others.
func parseRankingTurn(args string) (t rankingTurn, ok bool) {
	args, t.all = strings.CutSuffix(args, allSuffix)
	page, asker, _ := strings.Cut(args, ":")
	t.page, ok = wholeNumber(page)
	if !ok || t.page == 0 {
		return t, false
	}
	t.asker, ok = parseID[ranking.UserID](asker)
	return t, ok
}

// turnRanking handles the buttons that turn the pages of the ranking.
func (r *Router) turnRanking(ctx context.Context, p press, t rankingTurn) error {
	return r.stats.TurnRanking(ctx, p.origin, p.query.Message.ID, t.asker, stats.RankingQuery{Page: t.page, All: t.all})
}
