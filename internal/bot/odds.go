package bot

import (
	"context"
	"strconv"

	"elobot/internal/command"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// odds handles "/odds @bob", "/odds @alice @bob" and "/odds @a @b vs @c @d".
func (r *Router) odds(ctx context.Context, req request) error {
	return r.stats.ShowOdds(ctx, req.origin, func(everybody []ranking.Person) (sides [2][]ranking.Person, unclear ranking.Notice) {
		a, b, err := command.ParseSides(req.command, req.sender(), req.repliedPerson(), namesOf(everybody))
		if form, malformed := wrongForm(req.command, err); malformed {
			return sides, form
		}
		return [2][]ranking.Person{peopleOf(a), peopleOf(b)}, nil
	})
}

// teams handles "/teams @a @b @c @d".
func (r *Router) teams(ctx context.Context, req request) error {
	return r.stats.ShowTeams(ctx, req.origin, req.players)
}

// players returns the players whom a /teams names, in their order, on the first side.
func (req request) players(everybody []ranking.Person) (sides [2][]ranking.Person, unclear ranking.Notice) {
	players, err := command.ParsePlayers(req.command, req.sender(), namesOf(everybody))
	if form, malformed := wrongForm(req.command, err); malformed {
		return sides, form
	}
	return [2][]ranking.Person{peopleOf(players)}, nil
}

// teamButtons returns the buttons below teams: those for other teams, and the one to report the result. There is no room for the
// players in their data; they are those of the /teams that the message replies to, in the same order.
func teamButtons(n stats.Teams, w words) [][]button {
	var turn []button
	if n.Number > 1 {
		turn = append(turn, button{text: "‹", data: callbackData(teamsCode, strconv.Itoa(n.Number-1))})
	}
	if n.Number < n.Of {
		turn = append(turn, button{text: w.Text("button.next_teams", nil), data: callbackData(teamsCode, strconv.Itoa(n.Number+1))})
	}
	report := []button{{text: w.Text("button.report_teams", nil), data: callbackData(reportCode, strconv.Itoa(int(n.Split)))}}
	return [][]button{turn, report}
}

// parseCount reads a positive number.
func parseCount(args string) (n int, ok bool) {
	n, ok = wholeNumber(args)
	return n, ok && n > 0
}

// turnTeams handles the buttons for other teams. The ratings may have changed since, so the teams are divided again.
func (r *Router) turnTeams(ctx context.Context, p press, number int) error {
	req, ok := r.teamsBelow(p)
	if !ok {
		return r.unknownButton(ctx, p.origin)
	}
	return r.stats.TurnTeams(ctx, req.origin, p.query.Message.ID, func(everybody []ranking.Person) ([2][]ranking.Person, ranking.Notice) {
		sides, unclear := req.players(everybody)
		if unclear != nil || number > stats.Splits(len(sides[0])) {
			return sides, ranking.Refusal{Code: ranking.UnknownButton}
		}
		return sides, nil
	}, number)
}

// reportTeams handles the button that reports a result of teams. Whoever presses it is asked for the score.
func (r *Router) reportTeams(ctx context.Context, p press, number int) error {
	req, ok := r.teamsBelow(p)
	if !ok {
		return r.unknownButton(ctx, p.origin)
	}
	return r.rankings.StartTeamWizard(ctx, req.origin, func(everybody []ranking.Person) ([2][]ranking.Person, ranking.Notice) {
		sides, unclear := req.players(everybody)
		split, valid := stats.SplitOf(number, len(sides[0]))
		if unclear != nil || !valid {
			return sides, ranking.Refusal{Code: ranking.UnknownButton}
		}
		return stats.Divide(split, sides[0]), nil
	})
}

// teamsBelow returns the /teams that the message with a pressed button replies to. ok is false if it is gone.
func (r *Router) teamsBelow(p press) (req request, ok bool) {
	to := p.query.Message.replied()
	if to == nil || to.From == nil {
		return req, false
	}
	c, ok := command.Parse(to.Text, to.commandEntities(), r.self.Username)
	if known, _ := findCommand(c.Name); !ok || known.Name != command.NameTeams {
		return req, false
	}
	c.Name = command.NameTeams
	req = newRequest(to, p.origin, c)
	req.origin.Mentioned = append(req.origin.Mentioned, person(to.From.mentioned())) // by "me"
	return req, true
}
