package bot

import (
	"context"
	"fmt"

	"elobot/internal/command"
	"elobot/internal/ranking"
)

// match handles /match, /won, /lost and /draw. Without anything else, a wizard asks for the result.
func (r *Router) match(ctx context.Context, req request) error {
	if req.command.Args == "" && len(req.command.Mentions) == 0 && req.command.Written == command.NameMatch {
		return r.startWizard(ctx, req)
	}
	report, names, err := r.report(ctx, req)
	if form, ok := wrongForm(req.command, err); ok {
		req.origin.Malformed = req.command.Name
		form.Corrected, _ = command.Correct(req.command, req.sender(), req.repliedPerson(), names, err)
		return r.rankings.Answer(ctx, req.origin, form)
	}
	if err != nil {
		return err
	}
	readings := readingsOf(report)
	if report.Doubt == command.DoubtNone {
		return r.rankings.RecordMatch(ctx, req.origin, readings[0]...)
	}
	return r.rankings.AskMatch(ctx, req.origin, ranking.Question{
		Doubt: ranking.Doubt(report.Doubt), Word: report.Word, Readings: readings,
	})
}

// report reads the result in a command. It reads the players of the group if one of them is probably meant by name, or if the
// result cannot be read without them: most results mention everybody, and have no other words than "gg".
func (r *Router) report(ctx context.Context, req request) (command.Report, *command.Names, error) {
	mayName := req.command.MayNamePlayers() && req.origin.Chat.IsGroup()
	if !mayName || !req.command.LikelyNamesPlayers() {
		report, err := command.ParseMatch(req.command, req.sender(), req.repliedPerson(), nil)
		if err == nil {
			return report, nil, nil
		}
		if !mayName {
			return command.Report{}, nil, fmt.Errorf("read /%s: %w", req.command.Name, err)
		}
	}
	people, err := r.rankings.PeopleOf(ctx, req.origin.Chat.ID)
	if err != nil {
		return command.Report{}, nil, fmt.Errorf("read /%s: %w", req.command.Name, err)
	}
	names := namesOf(people)
	report, err := command.ParseMatch(req.command, req.sender(), req.repliedPerson(), names)
	if err != nil {
		return command.Report{}, names, fmt.Errorf("read /%s: %w", req.command.Name, err)
	}
	return report, names, nil
}

// sender returns who sent the command, the zero Person for an anonymous admin.
func (req request) sender() command.Person {
	if req.origin.Sender == nil {
		return command.Person{}
	}
	return req.message.From.mentioned()
}

// repliedPerson returns who is the opponent if the command names nobody: the author of the message that it replies to.
func (req request) repliedPerson() *command.Person {
	if req.opponent != nil {
		return req.opponent
	}
	return req.message.repliedPerson()
}

// namesOf returns the names by which players can be meant, nil if there are none.
func namesOf(players []ranking.Person) *command.Names {
	if len(players) == 0 {
		return nil
	}
	all := make([]command.Person, len(players))
	for i, p := range players {
		all[i] = namedPlayer(p)
	}
	return command.NewNames(all)
}

// namedPlayer converts a player who is meant by name.
func namedPlayer(p ranking.Person) command.Person {
	return command.Person{UserID: int64(p.ID), Username: p.Username, Name: p.Name, Player: int64(p.Player)}
}

// readingsOf converts the readings of a report for the ranking service.
func readingsOf(report command.Report) [][]ranking.Report {
	all := make([][]ranking.Report, len(report.Readings))
	for i, reading := range report.Readings {
		for _, m := range reading {
			all[i] = append(all[i], ranking.Report{A: peopleOf(m.A), B: peopleOf(m.B), Scores: scores(m.Scores)})
		}
	}
	return all
}

func peopleOf(all []command.Person) []ranking.Person {
	side := make([]ranking.Person, len(all))
	for i, p := range all {
		side[i] = person(p)
	}
	return side
}

// scores converts the scores of a match.
func scores(all []command.Score) []ranking.Score {
	converted := make([]ranking.Score, len(all))
	for i, s := range all {
		converted[i] = ranking.Score(s)
	}
	return converted
}
