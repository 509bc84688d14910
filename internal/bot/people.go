package bot

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/notice"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

const pickCode = "k"

func peopleFeature() feature {
	return feature{callbacks: []Callback{pageButton(pickCode, "question", parseIDs, (*Router).pick)}}
}

// meant returns the people whom a question in a group is about, at most so many: those whom it names, or else the author of the message
// that it replies to, or else the one that is given, if any.
func (req request) meant(most int, otherwise *command.Person) ranking.Meant {
	_, span := req.command.CutSpan()
	reply := req.repliedPerson()
	if req.command.Written == nameMe { // that is the sender
		reply = nil
	}
	return func(everybody []command.Person) ([]command.Person, notice.Notice) {
		named, err := command.ParsePeople(req.command, req.sender(), reply, req.names(everybody))
		switch unclear := req.unclear(err); {
		case span != "" && span != command.All:
			return nil, WrongForm{Command: req.command.Name, Reason: command.ReasonSpan, Detail: command.Excerpt(req.command.Typed())}
		case unclear != nil:
			return nil, unclear
		case len(named) == 0 && numberIn(req.command.Args) != "":
			return nil, unexpected(req.command, numberIn(req.command.Args))
		case len(named) > most:
			return nil, stats.UnclearPeople{Reason: stats.TooManyNamed, Command: req.command.Name}
		case slices.Contains(named, command.Person{}): // an anonymous admin
			return nil, ranking.Refusal{Code: ranking.NobodyToShow}
		case len(named) == 0 && otherwise != nil:
			return []command.Person{*otherwise}, nil
		default:
			return named, nil
		}
	}
}

// numberIn returns the first number in the arguments of a question about people, to which it means nothing; empty if there is none.
func numberIn(args string) string {
	for word := range strings.FieldsSeq(args) {
		if strings.ContainsFunc(word, unicode.IsNumber) {
			return word
		}
	}
	return ""
}

// names returns the names by which a question can mean players, with the picked ones.
func (req request) names(everybody []command.Person) *command.Names {
	return command.NewNames(everybody).Picking(req.picked)
}

// unclear says whom a question may mean if a name in it does not tell, or that nobody is called so. It returns nil if err says neither.
func (req request) unclear(err error) notice.Notice {
	var wrong *command.NameError
	if !errors.As(err, &wrong) {
		return nil
	}
	if len(wrong.People) == 0 {
		return stats.UnclearPeople{Reason: stats.UnknownName, Command: req.command.Name, Word: wrong.Word}
	}
	n := stats.WhoMeant{Doubt: command.DoubtUnknownName, Word: wrong.Word, Picked: req.picked}
	if wrong.Several {
		n.Doubt = command.DoubtName
	}
	for _, p := range wrong.People {
		n.People = append(n.People, ranking.Name{Player: p.Player})
	}
	return n
}

var _ = shows(view[stats.UnclearPeople]{text: words.unclearPeople, line: words.unclearPeople, personal: true})

// unclearPeople says why it is not clear who a question is about.
func (w words) unclearPeople(n stats.UnclearPeople) string {
	with := args{"Word": showWord(n.Word), "Form": ""}
	if id := "commands." + n.Command + ".usage"; w.Has(id) {
		with["Form"] = strings.ReplaceAll(w.Text(id, nil), "\n", " · ")
	}
	id := "people." + string(n.Reason)
	if !w.Has(id) {
		id = "refusal.unknown"
	}
	return w.Text(id, with)
}

var _ = shows(view[stats.WhoMeant]{text: words.whoMeant, buttons: whoMeantButtons})

func (w words) whoMeant(n stats.WhoMeant) string {
	return w.Text("question."+string(n.Doubt), args{"Word": showWord(n.Word)})
}

// whoMeantButtons returns a button for each person who may be meant. There is no room for the question in their data; it is that of the
// message that they reply to.
func whoMeantButtons(n stats.WhoMeant, _ outbox.Item, w words) (rows [][]button) {
	for _, name := range n.People {
		if data := callbackData(pickCode, showIDs(append(slices.Clone(n.Picked), name.Player))); data != "" {
			rows = append(rows, []button{{text: w.personLabel(name, false), data: data}})
		}
	}
	return rows
}

// pick handles the buttons that say whom an unclear name in a question means: it answers the question, or asks about the next such name.
func (r *Router) pick(ctx context.Context, p press, picked []ladder.PlayerID) error {
	req, c, ok := r.commandBelow(p)
	if !ok || c.Topic != aboutStatistics { // the message may have been edited since
		return r.unknownButton(ctx, p.origin)
	}
	req.picked = picked
	return r.handle(ctx, c, req)
}

// commandBelow returns the command that the message with a pressed button replies to. ok is false if it is gone.
func (r *Router) commandBelow(p press) (req request, known Command, ok bool) {
	to := p.query.Message.replied()
	if to == nil || to.From == nil {
		return req, known, false
	}
	c, ok := to.command(to.commandEntities(), r.self.Username)
	if !ok {
		return req, known, false
	}
	if known, ok = findCommand(c.Name); !ok {
		return req, known, false
	}
	c.Name = known.Name
	req = newRequest(to, p.origin, c)
	req.origin.Mentioned = append(req.origin.Mentioned, to.From.mentioned()) // by "me"
	return req, known, true
}

// idBase keeps the ids of several players short enough for the data of a button.
const idBase = 36

// showIDs writes the ids of players in the data of a button, as in 1a,1b.
func showIDs(players []ladder.PlayerID) string {
	ids := make([]string, len(players))
	for i, p := range players {
		ids[i] = strconv.FormatInt(int64(p), idBase)
	}
	return strings.Join(ids, ",")
}

// parseIDs reads what showIDs writes of at least one player. ok is false for all else.
func parseIDs(text string) (players []ladder.PlayerID, ok bool) {
	for id := range strings.SplitSeq(text, ",") {
		player, err := strconv.ParseInt(id, idBase, 64)
		if err != nil || player <= 0 {
			return nil, false
		}
		players = append(players, ladder.PlayerID(player))
	}
	return players, showIDs(players) == text
}
