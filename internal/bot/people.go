package bot

import (
	"slices"
	"strconv"
	"strings"

	"elobot/internal/ladder"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

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

// whoMeantButtons returns a button for each candidate. The question does not fit into the data, so
// a press reads the question again from the command that the message replies to.
func whoMeantButtons(n stats.WhoMeant, _ outbox.Item, w words) (rows [][]button) {
	for _, name := range n.People {
		data := callbackData(pickCode, showIDs(append(slices.Clone(n.Picked), name.Player)))
		rows = append(rows, []button{{text: w.personLabel(name, false), data: data}})
	}
	return rows
}

// pick handles the buttons that settle an unclear name in a question. The bot then answers the
// question, or asks about the next unclear name.
func pick(r *Router, p *press, picked []ladder.PlayerID) ranking.Operation {
	req, c, ok := r.commandBelow(p)
	if !ok || c.Topic != aboutStatistics && c.Name != namePlayer { // the message may have been edited since
		return nil
	}
	req.origin.Said.Picked = picked
	p.origin = req.origin
	return c.Handle(r, req)
}

// commandBelow returns the command that the message with the pressed button replies to. ok is false
// if the message with the command is gone or no longer has a command that the bot knows.
func (r *Router) commandBelow(p *press) (req request, known Command, ok bool) {
	to := p.query.Message.replied()
	if to == nil || to.From == nil {
		return req, known, false
	}
	c, ok := to.command(to.commandEntities(), r.self.Username)
	if !ok {
		return req, known, false
	}
	known, ok = findCommand(c.Name)
	c.Name, c.MayNameLadder = known.Name, known.OfLadder
	return newRequest(to, p.origin, c), known, ok
}

// idBase is the base of player ids in button data. A large base keeps the ids short, so that
// several fit.
const idBase = 36

// showIDs formats player ids for button data, as in 1a,1b.
func showIDs(players []ladder.PlayerID) string {
	ids := make([]string, len(players))
	for i, p := range players {
		ids[i] = strconv.FormatInt(int64(p), idBase)
	}
	return strings.Join(ids, ",")
}

// parseIDs reads the output of showIDs for at least one player. ok is false for anything else.
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
