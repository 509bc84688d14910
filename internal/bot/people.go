package bot

import (
	"errors"
	"slices"
	"strings"

	"elobot/internal/command"
	"elobot/internal/notice"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// meant returns the people that a question in a group is about, at most so many: those that it names, or else the author of the message
// that it replies to, or else the one that is given, if any.
func (req request) meant(most int, otherwise *ranking.Person) ranking.Meant {
	reply := req.repliedPerson()
	if req.command.Written == nameMe { // that is the sender
		reply = nil
	}
	return func(everybody []ranking.Person) ([]ranking.Person, notice.Notice) {
		n := stats.UnclearPeople{Command: req.command.Name}
		named, err := command.ParsePeople(req.command, req.sender(), reply, namesOf(everybody))
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
			return nil, n
		case len(named) > most:
			n.Reason = stats.TooManyNamed
			return nil, n
		case slices.Contains(named, command.Person{}): // an anonymous admin
			return nil, ranking.Refusal{Code: ranking.NobodyToShow}
		case len(named) == 0 && otherwise != nil:
			return []ranking.Person{*otherwise}, nil
		default:
			return peopleOf(named), nil
		}
	}
}

var _ = shows(view[stats.UnclearPeople]{text: words.unclearPeople, line: words.unclearPeople, personal: true})

// unclearPeople says why it is not clear who a question is about.
func (w words) unclearPeople(n stats.UnclearPeople) string {
	with := args{"Word": showWord(n.Word), "Names": strings.Join(namesAs(n.Near, boldName), ", "), "Form": ""}
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
