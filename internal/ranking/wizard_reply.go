package ranking

import (
	"errors"
	"slices"

	"elobot/internal/command"
)

// ReplyToWizard answers a PromptWizard with the words of the command: the opponent's name, the
// score, or both. If the wizard is closed or does not ask the sender, the message is ignored.
type ReplyToWizard struct {
	Wizard PromptRef
	// Offered is an option of the replied-to message: a ScoreAgainst if the message asks for the
	// score, a Doubles with picks if it asks for a pick, and otherwise nil.
	Offered PromptOption
}

func (r ReplyToWizard) plan(s *Service, c *call) *call {
	if c.found == nil {
		asksSender := func(p *Prompt) bool {
			return p.Wizard != nil && !p.Closed && c.Sender != nil && p.Wizard.Reporter.ID == c.Sender.ID
		}
		return c.finding(findPrompt{ref: r.Wizard, everybody: c.mayNamePlayers(), accepts: asksSender})
	}
	wizard := c.found.prompt.Wizard
	option, malformed := wizard.AnswerOf(c.Said, r.Offered, c.found.everybody)
	if malformed != nil {
		return Say{Notice: malformed, Malformed: commandMatch}.plan(s, c)
	}
	return PromptAnswer{Prompt: r.Wizard, Option: option}.planWizard(s, c)
}

// AnswerOf parses a typed reply to a wizard's message. offered is an option of that message, as in
// ReplyToWizard. AnswerOf returns the answer, or the notice that says why the reply is malformed.
func (r WizardRequest) AnswerOf(
	said command.Command, offered PromptOption, everybody []command.Person,
) (o PromptOption, malformed Notice) {
	_, asksNext := offered.(Doubles)
	score, asksScore := offered.(ScoreAgainst)
	asksScore = asksScore && r.has(score)
	switch {
	case asksNext: // a pick cannot be typed, but the whole match can
		return nil, WrongForm{Command: said.Name, Reason: command.ReasonNoVersus, Teams: true}
	case r.HasTeams(), asksScore && score.Picks != Picks{}:
		typed, err := command.ParseScores(said)
		if form, malformed := WrongFormOf(said, err); malformed {
			return nil, form
		}
		sides := r.sides(score)
		return command.Reading{{A: sides[0], B: sides[1], Scores: typed}}, nil
	case asksScore:
		said.Reply = &r.Opponents[score.Opponent]
	}
	report, unclear, err := certainReport(said, everybody)
	switch {
	case unclear != nil:
		return *unclear, nil
	case err == nil:
		return report.Readings[0], nil
	}
	if said.Reply == nil {
		if o = opponentAlone(said, everybody); o != nil {
			return o, nil
		}
	}
	form, _ := WrongFormOf(said, err)
	return nil, form
}

// certainReport parses a report. It fails if the report has more than one reading. If a name does
// not determine the sender's opponent, certainReport also returns that name.
func certainReport(said command.Command, everybody []command.Person) (command.Report, *UnclearOpponent, error) {
	report, err := command.ParseMatchOf(said, everybody)
	unclear := unclearOpponent(report, err, said.Sender)
	if err == nil {
		_, err = command.Certain(report)
	}
	return report, unclear, err
}

// opponentAlone parses a message that names the opponent but has no score. It adds a score, so that
// the message can be parsed like a report. It returns a command.Person or an UnclearOpponent, or
// nil if the text is not the name of an opponent.
func opponentAlone(said command.Command, everybody []command.Person) PromptOption {
	said.Args += " 1:0"
	report, unclear, err := certainReport(said, everybody)
	switch {
	case unclear != nil:
		unclear.Score = nil
		return *unclear
	case err != nil:
		return nil
	}
	if opponent, ok := opponentOf(report.Readings[0], said.Sender); ok {
		return opponent
	}
	return nil
}

// unclearOpponent returns the name that leaves the sender's opponent unclear, nil if there is none.
// Either err says that the name is unknown, or the report's doubt is about the name and some of its
// readings are a single match of the sender against one person.
func unclearOpponent(report command.Report, err error, sender command.Person) *UnclearOpponent {
	var form *command.FormError
	if errors.As(err, &form) && form.Reason == command.ReasonUnknownName {
		return &UnclearOpponent{Doubt: command.DoubtUnknownName, Word: form.Detail}
	}
	if report.Doubt != command.DoubtName && report.Doubt != command.DoubtUnknownName {
		return nil
	}
	u := &UnclearOpponent{Doubt: report.Doubt, Word: report.Word}
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

// opponentOf returns the sender's opponent in a reading with one singles match. ok is false for
// other readings, and for a match of another day, because an opponent alone cannot express the day.
func opponentOf(reading command.Reading, sender command.Person) (opponent command.Person, ok bool) {
	m := reading[0]
	isAlone := len(m.A) == 1 && len(m.B) == 1 && m.A[0].ID == sender.ID
	return m.B[0], isAlone && len(reading) == 1 && m.When == command.When{}
}
