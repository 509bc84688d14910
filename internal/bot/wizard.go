package bot

import (
	"context"
	"errors"
	"slices"
	"strings"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
)

// startWizard handles a /match without anything else: buttons ask for the opponent and the score. The author of the message that it replies
// to is the opponent.
func (r *Router) startWizard(ctx context.Context, req request) error {
	wizard := ranking.StartWizard{Otherwise: WrongForm{Command: command.NameMatch, Reason: command.ReasonEmpty}}
	if p := req.message.repliedPerson(); p != nil && p.ID != req.sender().ID {
		wizard.Opponent = p
	}
	return r.rankings.Do(ctx, req.origin, wizard)
}

// wizardReply handles a reply to the message of a wizard, by whoever it asks: the name of the opponent, the score, or both. It ignores all
// other messages.
func (r *Router) wizardReply(ctx context.Context, req request) error {
	to := req.message.replied()
	if to == nil || req.origin.Sender == nil || !req.origin.Chat.IsGroup() {
		return nil
	}
	var wizard ranking.PromptRef
	asked := ranking.Choice(-1) // about the score against this opponent
	for _, data := range r.buttonsBelow(to) {
		ref, option, ok := promptOf(data)
		if !ok {
			return nil
		}
		wizard = ref
		if score, ok := option.(ranking.ScoreAgainst); ok {
			asked = score.Opponent
		}
	}
	if wizard.ID == 0 {
		return nil
	}
	req.origin.Pressed = to.ID
	req = newRequest(req.message, req.origin, command.Text(command.NameMatch, req.message.Text, req.message.commandEntities(), r.self.Username))
	read := func(w ranking.WizardRequest, everybody []command.Person) (o ranking.PromptOption, malformed ranking.Notice) {
		if 0 <= asked && int(asked) < len(w.Opponents) {
			req.opponent = new(w.Opponents[asked])
		}
		if w.HasTeams() {
			return req.teamScore(w)
		}
		return req.wizardAnswer(everybody)
	}
	return r.rankings.Do(ctx, req.origin, ranking.ReplyToWizard{Wizard: wizard, Read: read})
}

// wizardAnswer returns the answer to a wizard that somebody typed.
func (req request) wizardAnswer(everybody []command.Person) (o ranking.PromptOption, malformed ranking.Notice) {
	report, unclear, err := req.certain(everybody)
	switch {
	case unclear != nil:
		return *unclear, nil
	case err == nil:
		return report.Readings[0], nil
	}
	if req.opponent == nil {
		if o = req.opponentAlone(everybody); o != nil {
			return o, nil
		}
	}
	malformed, _ = wrongForm(req.command, err)
	return nil, malformed
}

// certain reads a report that has one reading, or returns the name that does not tell who is the
// sender's opponent.
func (req request) certain(everybody []command.Person) (command.Report, *ranking.UnclearOpponent, error) {
	report, err := req.parseNames(everybody)
	unclear := unclearOpponent(report, err, req.sender())
	if err == nil {
		_, err = command.Certain(report)
	}
	return report, unclear, err
}

// teamScore returns the answer to a wizard about teams: the score that somebody typed.
func (req request) teamScore(w ranking.WizardRequest) (o ranking.PromptOption, malformed ranking.Notice) {
	typed, err := command.ParseScores(req.command)
	if form, malformed := wrongForm(req.command, err); malformed {
		return nil, form
	}
	return command.Reading{{A: w.Teams[0], B: w.Teams[1], Scores: typed}}, nil
}

// opponentAlone reads a name without a score, by adding one. It returns nil if the text is no name.
func (req request) opponentAlone(everybody []command.Person) ranking.PromptOption {
	req.command.Args += " 1:0"
	report, unclear, err := req.certain(everybody)
	switch {
	case unclear != nil:
		unclear.Score = nil
		return *unclear
	case err != nil:
		return nil
	}
	if opponent, ok := opponentOf(report.Readings[0], req.sender()); ok {
		return opponent
	}
	return nil
}

// unclearOpponent returns the name in a result that does not tell who is the sender's opponent, nil if there is none.
func unclearOpponent(report command.Report, err error, sender command.Person) *ranking.UnclearOpponent {
	var form *command.FormError
	if errors.As(err, &form) && form.Reason == command.ReasonUnknownName {
		return &ranking.UnclearOpponent{Doubt: command.DoubtUnknownName, Word: form.Detail}
	}
	if report.Doubt != command.DoubtName && report.Doubt != command.DoubtUnknownName {
		return nil
	}
	u := &ranking.UnclearOpponent{Doubt: report.Doubt, Word: report.Word}
	for _, reading := range report.Readings {
		opponent, ok := opponentOf(reading, sender)
		if !ok {
			continue
		}
		if !slices.ContainsFunc(u.People, opponent.IsSame) {
			u.People = append(u.People, opponent)
		}
		if scores := reading[0].Scores; u.Score == nil && len(scores) == 1 && scores[0].HasPoints() {
			u.Score = &scores[0]
		}
	}
	if len(u.People) == 0 {
		return nil
	}
	return u
}

// opponentOf returns the only opponent of the sender, who plays alone. ok is false if the matches
// are others, or of another day, which an opponent does not tell.
func opponentOf(reading command.Reading, sender command.Person) (opponent command.Person, ok bool) {
	m := reading[0]
	isAlone := len(m.A) == 1 && len(m.B) == 1 && m.A[0].ID == sender.ID
	return m.B[0], isAlone && len(reading) == 1 && m.When == command.When{}
}

var _ = shows(view[ranking.OpponentPrompt]{text: words.opponentPrompt, buttons: opponentButtons, ofLadder: true})

// opponentPrompt asks for the opponent.
func (w words) opponentPrompt(ranking.OpponentPrompt) string { return w.Text("wizard.opponent", nil) }

var _ = shows(view[ranking.NamePrompt]{text: words.namePrompt, buttons: nameButtons, ofLadder: true})

// namePrompt asks who is meant by the name of an opponent.
func (w words) namePrompt(n ranking.NamePrompt) string {
	return w.Text("question."+string(n.Doubt), args{"Word": showWord(n.Word)}) + " " + w.Text("wizard.name", nil)
}

var _ = shows(view[ranking.ScorePrompt]{text: words.scorePrompt, buttons: scoreButtons, ofLadder: true})

// scorePrompt asks for the score.
func (w words) scorePrompt(n ranking.ScorePrompt) string {
	if len(n.Teams[0]) > 0 {
		return w.Text("wizard.score_teams", args{"A": shortNames(n.Teams[0]), "B": shortNames(n.Teams[1])})
	}
	return w.Text("wizard.score", args{"Name": showName(n.Opponent)})
}

// opponentButtons returns the buttons below the question for the opponent: two in a row, then those that turn the page.
func opponentButtons(n ranking.OpponentPrompt, item outbox.Item, w words) [][]button {
	ref := promptRef(n.Prompt, n.Tag, item.ID)
	var all []button
	for i, name := range n.Opponents {
		label := cut(drawnName(name), maxPairLabel, maxNameUnits)
		all = append(all, button{text: label, data: promptData(ref, ranking.Choice(n.First+i))})
	}
	page := n.First/ranking.OpponentsPerPage + 1
	var last []button
	if page > 1 {
		last = append(last, button{text: "‹", data: promptData(ref, ranking.OpponentPage(page-1))})
	}
	if n.First+len(n.Opponents) < n.Total {
		last = append(last, button{text: "›", data: promptData(ref, ranking.OpponentPage(page+1))})
	}
	return append(slices.Collect(slices.Chunk(all, 2)), append(last, w.cancels(ref)))
}

// nameButtons returns the buttons below the question who is meant by a name: one person in a row, then the way back to all opponents.
func nameButtons(n ranking.NamePrompt, _ outbox.Item, w words) [][]button {
	var rows [][]button
	ref := ranking.PromptRef{ID: n.Prompt, Tag: n.Tag}
	for i, name := range n.Opponents {
		rows = append(rows, []button{{text: w.personLabel(name, false), data: promptData(ref, ranking.Choice(n.First+i))}})
	}
	var last []button
	if n.More {
		last = append(last, button{text: "‹", data: promptData(ref, ranking.OpponentPage(1))})
	}
	return append(rows, append(last, w.cancels(ref)))
}

// scoreButtons returns the buttons below the question for the score: three scores in a row, then
// two of those for who has won and for other scores.
func scoreButtons(n ranking.ScorePrompt, item outbox.Item, w words) [][]button {
	ref := promptRef(n.Prompt, n.Tag, item.ID)
	var scores, without []button
	for _, s := range n.Scores {
		option := ranking.ScoreAgainst{Opponent: n.At, Score: ladder.Score{A: s[0], B: s[1]}}
		b := button{text: w.scoreLabel(n, s), data: promptData(ref, option)}
		if !hasPoints(s) {
			without = append(without, b)
		} else {
			scores = append(scores, b)
		}
	}
	without = append(without, w.cancels(ref))
	return slices.AppendSeq(slices.Collect(slices.Chunk(scores, 3)), slices.Chunk(without, 2))
}

// scoreLabel returns the label of a button for a score, or for who has won.
func (w words) scoreLabel(n ranking.ScorePrompt, score [2]int) string {
	outcome := outcomeOf(score)
	switch {
	case score == [2]int{ranking.OtherScore.A, ranking.OtherScore.B}:
		return w.Text("button.other_score", nil)
	case hasPoints(score):
		return writtenScore(score)
	case len(n.Teams[0]) == 0 || outcome == "drew":
		return w.Text("wizard."+outcome, nil)
	case outcome == "won":
		return winnerLabel(n.Teams[0])
	default:
		return winnerLabel(n.Teams[1])
	}
}

// winnerLabel returns the label of a button that says that a side has won.
func winnerLabel(names []ranking.Name) string {
	all := namesAs(names, func(n ranking.Name) string { return cleanName(n.Name) })
	return "🏆 " + cut(strings.Join(all, " & "), maxPairLabel, maxNameUnits)
}
