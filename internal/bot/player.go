package bot

import (
	"context"
	"strconv"

	"elobot/internal/command"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// player handles "/stats", "/stats @bob" and "/me".
func (r *Router) player(ctx context.Context, req request) error {
	if !req.origin.Chat.IsGroup() {
		if len(req.command.Mentions) > 0 || req.command.MayNamePlayers() {
			return r.rankings.Answer(ctx, req.origin, GroupOnly{Command: command.NameStats + " @bob"})
		}
		return r.stats.ShowMe(ctx, req.origin)
	}
	return r.stats.ShowPlayer(ctx, req.origin, req.meant(1, req.origin.Sender))
}

// headToHead handles "/h2h @bob", which is about the sender and Bob, and "/h2h @bob @carol".
func (r *Router) headToHead(ctx context.Context, req request) error {
	return r.stats.ShowHeadToHead(ctx, req.origin, func(everybody []ranking.Person) ([]ranking.Person, ranking.Notice) {
		people, unclear := req.meant(2, nil)(everybody)
		switch {
		case unclear != nil || len(people) == 2:
			return people, unclear
		case len(people) == 0:
			return nil, stats.UnclearPeople{Reason: stats.NobodyNamed, Command: command.NameH2H}
		case req.origin.Sender == nil:
			return nil, stats.UnclearPeople{Reason: stats.NameBoth, Command: command.NameH2H}
		default:
			return []ranking.Person{*req.origin.Sender, people[0]}, nil
		}
	})
}

// records handles /records.
func (r *Router) records(ctx context.Context, req request) error {
	return r.stats.ShowRecords(ctx, req.origin)
}

// playerData returns the data of a button that is about a player.
func playerData(code string, player ranking.PlayerID) string {
	return callbackData(code, strconv.FormatInt(int64(player), 10))
}

// parsePlayer reads the arguments that playerData writes. ok is false for all others.
func parsePlayer(args string) (player ranking.PlayerID, ok bool) {
	player, ok = parseID[ranking.PlayerID](args)
	return player, ok && player > 0
}

// turnToPlayer handles the button that shows a player.
func (r *Router) turnToPlayer(ctx context.Context, p press, player ranking.PlayerID) error {
	return r.stats.TurnToPlayer(ctx, p.origin, p.query.Message.ID, player)
}

// turnToHeadToHead handles the button that compares whoever presses it with a player.
func (r *Router) turnToHeadToHead(ctx context.Context, p press, player ranking.PlayerID) error {
	return r.stats.TurnToHeadToHead(ctx, p.origin, p.query.Message.ID, player)
}

// The periods of records in the data of buttons.
const (
	periodMonth   = "month"
	periodAllTime = "all"
)

// parsePeriod reads the period of records. ok is false for all others.
func parsePeriod(args string) (period string, ok bool) {
	return args, args == periodMonth || args == periodAllTime
}

// turnRecords handles the buttons that show the records of a period.
func (r *Router) turnRecords(ctx context.Context, p press, period string) error {
	return r.stats.TurnRecords(ctx, p.origin, p.query.Message.ID, period == periodMonth)
}

// playerButtons returns the buttons below a player's page, none for somebody who has not played.
func playerButtons(n stats.MyStanding, w words) [][]button {
	if n.Played() == 0 || n.Name.Player == 0 {
		return nil
	}
	return [][]button{
		{
			{text: w.Text("button.matches", nil), data: historyTurn{player: n.Name.Player}.data()},
			{text: w.Text("button.against_you", nil), data: playerData(againstCode, n.Name.Player)},
		},
		{{text: w.Text("button.chart", nil), data: playerData(postChartCode, n.Name.Player)}},
	}
}

// headToHeadButtons returns the button that leads back to the page of a player, if the comparison came from there.
func headToHeadButtons(n stats.HeadToHead, w words) [][]button {
	if n.Back == 0 {
		return nil
	}
	return [][]button{{{text: w.Text("button.back", nil), data: playerData(playerCode, n.Back)}}}
}

// recordsButtons returns the buttons that choose the period of records.
func recordsButtons(n stats.Records, w words) [][]button {
	return [][]button{{
		{text: choice(w.Text("button.this_month", nil), !n.Month.IsZero()), data: callbackData(recordsCode, periodMonth)},
		{text: choice(w.Text("button.all_time", nil), n.Month.IsZero()), data: callbackData(recordsCode, periodAllTime)},
	}}
}
