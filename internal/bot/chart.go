package bot

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// chart handles "/chart", "/chart @bob" and "/chart @bob @carol".
func (r *Router) chart(ctx context.Context, req request) error {
	return r.stats.ShowChart(ctx, req.origin, req.meant(stats.MaxCharted, nil))
}

// postChart handles the button that posts the chart of a player as a message of its own: a page cannot become a picture and turn
// back.
func (r *Router) postChart(ctx context.Context, p press, player ranking.PlayerID) error {
	return r.stats.PostChart(ctx, p.origin, player)
}

// turnChart handles the buttons that show another period, or another axis.
func (r *Router) turnChart(ctx context.Context, p press, n stats.Chart) error {
	return r.stats.TurnChart(ctx, p.origin, p.query.Message.ID, n)
}

// The axes of a chart in the data of buttons.
const (
	axisDate  = "d"
	axisMatch = "m"
)

// idBase keeps the ids of four players short enough for the data of a button.
const idBase = 36

// chartData returns the data of a button that shows a chart, as in 1g:month:d:1a,1b; empty if it is too long.
func chartData(n stats.Chart) string {
	axis, ids := axisDate, make([]string, len(n.Players))
	if n.ByMatch {
		axis = axisMatch
	}
	for i, name := range n.Players {
		ids[i] = strconv.FormatInt(int64(name.Player), idBase)
	}
	return callbackData(chartCode, strings.Join([]string{string(n.Period), axis, strings.Join(ids, ",")}, ":"))
}

// parseChart reads the arguments that chartData writes. ok is false for all others.
func parseChart(args string) (n stats.Chart, ok bool) {
	period, rest, _ := strings.Cut(args, ":")
	axis, ids, _ := strings.Cut(rest, ":")
	n.Period, n.ByMatch = stats.Period(period), axis == axisMatch
	for id := range strings.SplitSeq(ids, ",") {
		player, err := strconv.ParseInt(id, idBase, 64)
		if err != nil || player <= 0 {
			return n, false
		}
		n.Players = append(n.Players, ranking.Name{Player: ranking.PlayerID(player)})
	}
	known := slices.Contains(stats.Periods(), n.Period) && len(n.Players) <= stats.MaxCharted
	return n, known && chartData(n) == callbackData(chartCode, args)
}
