package bot

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"elobot/internal/command"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// playersNamed returns the people whom a question in a group is about, at most so many: those whom it names, or else the author
// of the message that it replies to, or nobody. unclear is the answer if it is not clear who they are.
func (r *Router) playersNamed(ctx context.Context, req request, most int) (people []ranking.Person, unclear ranking.Notice, err error) {
	names, err := r.namesIn(ctx, req)
	if err != nil {
		return nil, nil, err
	}
	reply := req.repliedPerson()
	if req.command.Written == command.NameMe { // that is the sender
		reply = nil
	}
	n := stats.UnclearPeople{Command: req.command.Name}
	named, err := command.ParsePeople(req.command, req.sender(), reply, names)
	var wrong *command.NameError
	switch {
	case errors.As(err, &wrong):
		n.Reason, n.Word = stats.UnknownName, wrong.Word
		if wrong.Several {
			n.Reason = stats.SeveralNamed
		}
		for _, p := range wrong.People {
			n.Near = append(n.Near, ranking.Name{Player: ranking.PlayerID(p.Player)})
		}
		return nil, n, nil
	case err != nil:
		return nil, nil, fmt.Errorf("read /%s: %w", req.command.Name, err)
	case len(named) > most:
		n.Reason = stats.TooManyNamed
		return nil, n, nil
	}
	for _, p := range named {
		if p == (command.Person{}) { // an anonymous admin
			return nil, ranking.Refusal{Code: ranking.NobodyToShow}, nil
		}
		people = append(people, person(p))
	}
	return people, nil, nil
}

// unclearPeople says why it is not clear whom a question is about.
func (w words) unclearPeople(n stats.UnclearPeople) string {
	names := make([]string, len(n.Near))
	for i, name := range n.Near {
		names[i] = "<b>" + showName(name) + "</b>"
	}
	with := args{"Word": showWord(n.Word), "Names": strings.Join(names, ", "), "Form": ""}
	if id := "commands." + n.Command + ".usage"; w.Has(id) {
		with["Form"] = strings.ReplaceAll(w.Text(id, nil), "\n", " · ")
	}
	id := "people." + string(n.Reason)
	switch {
	case n.Reason == stats.UnknownName && len(n.Near) > 0:
		id = "people.similar_name"
	case !w.Has(id):
		id = "refusal.unknown"
	}
	return w.Text(id, with)
}
