package bot

import (
	"context"
	"fmt"
	"strconv"

	"elobot/internal/command"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// namesIn returns the names of the players of the group if one of them may be meant by name.
func (r *Router) namesIn(ctx context.Context, req request) (*command.Names, error) {
	var people []ranking.Person
	if req.command.MayNamePlayers() {
		var err error
		if people, err = r.rankings.PeopleOf(ctx, req.origin.Chat.ID); err != nil {
			return nil, fmt.Errorf("read /%s: %w", req.command.Name, err)
		}
	}
	return namesOf(people), nil
}

// answerForm answers a question that is malformed. It returns all other errors.
func (r *Router) answerForm(ctx context.Context, req request, err error) error {
	if form, ok := wrongForm(req.command, err); ok {
		return r.rankings.Answer(ctx, req.origin, form)
	}
	return fmt.Errorf("read /%s: %w", req.command.Name, err)
}

// odds handles "/odds @bob", "/odds @alice @bob" and "/odds @a @b vs @c @d".
func (r *Router) odds(ctx context.Context, req request) error {
	names, err := r.namesIn(ctx, req)
	if err != nil {
		return err
	}
	a, b, err := command.ParseSides(req.command, req.sender(), req.repliedPerson(), names)
	if err != nil {
		return r.answerForm(ctx, req, err)
	}
	return r.stats.ShowOdds(ctx, req.origin, peopleOf(a), peopleOf(b))
}

// teams handles "/teams @a @b @c @d".
func (r *Router) teams(ctx context.Context, req request) error {
	players, err := r.teamPlayers(ctx, req)
	if err != nil {
		return r.answerForm(ctx, req, err)
	}
	return r.stats.ShowTeams(ctx, req.origin, players)
}

// teamPlayers returns the players whom a /teams names, in their order.
func (r *Router) teamPlayers(ctx context.Context, req request) ([]ranking.Person, error) {
	names, err := r.namesIn(ctx, req)
	if err != nil {
		return nil, err
	}
	players, err := command.ParsePlayers(req.command, req.sender(), names)
	if err != nil {
		return nil, fmt.Errorf("read the players: %w", err)
	}
	return peopleOf(players), nil
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
	players, ok, err := r.playersBelow(ctx, p)
	if err != nil {
		return err
	}
	if !ok || number > stats.Splits(len(players)) {
		return r.unknownButton(ctx, p.origin)
	}
	return r.stats.TurnTeams(ctx, p.origin, p.query.Message.ID, players, number)
}

// reportTeams handles the button that reports a result of teams. Whoever presses it is asked for the score.
func (r *Router) reportTeams(ctx context.Context, p press, number int) error {
	players, ok, err := r.playersBelow(ctx, p)
	if err != nil {
		return err
	}
	split, valid := stats.SplitOf(number, len(players))
	if !ok || !valid {
		return r.unknownButton(ctx, p.origin)
	}
	var teams [2][]ranking.Person
	for i, player := range players {
		side := 1
		if split.Has(i) {
			side = 0
		}
		teams[side] = append(teams[side], player)
	}
	return r.rankings.StartTeamWizard(ctx, p.origin, teams)
}

// playersBelow returns the players whom the /teams names that the message with a pressed button replies to. ok is false if it is
// gone, or can no longer be read.
func (r *Router) playersBelow(ctx context.Context, p press) (players []ranking.Person, ok bool, err error) {
	to := p.query.Message.replied()
	if to == nil || to.From == nil {
		return nil, false, nil
	}
	c, ok := command.Parse(to.Text, to.commandEntities(), r.self.Username)
	if known, _ := findCommand(c.Name); !ok || known.Name != command.NameTeams {
		return nil, false, nil
	}
	c.Name = command.NameTeams
	players, err = r.teamPlayers(ctx, request{message: to, command: c, origin: p.origin})
	if _, malformed := wrongForm(c, err); malformed {
		return nil, false, nil
	}
	return players, err == nil, err
}
