package bot

import (
	"errors"

	"elobot/internal/command"
	"elobot/internal/ranking"
)

// The notices that are about commands as such and not about rankings. Like those of the ranking package they are
// stored as JSON, so their fields may only become more.
const (
	kindGreeting       = "greeting"
	kindHelp           = "help"
	kindWrongForm      = "wrong_form"
	kindGroupOnly      = "group_only"
	kindUnknownCommand = "unknown_command"
	kindCommandFailed  = "command_failed"
)

// Greeting says what the bot does.
type Greeting struct {
	Private bool `json:"private,omitempty"`
}

// Kind implements ranking.Notice.
func (Greeting) Kind() string { return kindGreeting }

// Purpose implements ranking.Notice. A group is greeted because the bot was added, also if that was a while ago.
func (g Greeting) Purpose() ranking.Purpose {
	if g.Private {
		return ranking.Answer
	}
	return ranking.Outcome
}

// Help explains one command, or all of them when it has no topic.
type Help struct {
	Topic   string `json:"topic,omitempty"`
	Private bool   `json:"private,omitempty"`
}

// Kind implements ranking.Notice.
func (Help) Kind() string { return kindHelp }

// Purpose implements ranking.Notice.
func (Help) Purpose() ranking.Purpose { return ranking.Answer }

// WrongForm says what is wrong with how a command was written.
type WrongForm struct {
	Command string         `json:"command"`
	Reason  command.Reason `json:"reason"`
	Detail  string         `json:"detail,omitempty"`
	Teams   bool           `json:"teams,omitempty"` // it was about teams
}

// Kind implements ranking.Notice.
func (WrongForm) Kind() string { return kindWrongForm }

// Purpose implements ranking.Notice.
func (WrongForm) Purpose() ranking.Purpose { return ranking.Outcome }

// wrongForm returns the notice for an error of the command package.
func wrongForm(c command.Command, err error) (WrongForm, bool) {
	var form *command.FormError
	if !errors.As(err, &form) {
		return WrongForm{}, false
	}
	teams := c.Name == command.NameMatch && c.NamesTeams()
	return WrongForm{Command: c.Name, Reason: form.Reason, Detail: form.Detail, Teams: teams}, true
}

// GroupOnly says that a command needs a group.
type GroupOnly struct {
	Command string `json:"command"`
}

// Kind implements ranking.Notice.
func (GroupOnly) Kind() string { return kindGroupOnly }

// Purpose implements ranking.Notice.
func (GroupOnly) Purpose() ranking.Purpose { return ranking.Answer }

// UnknownCommand says that there is no such command.
type UnknownCommand struct{}

// Kind implements ranking.Notice.
func (UnknownCommand) Kind() string { return kindUnknownCommand }

// Purpose implements ranking.Notice.
func (UnknownCommand) Purpose() ranking.Purpose { return ranking.Answer }

// PutAside says that a command could not be handled, because of something that is wrong with the bot.
type CommandFailed struct {
	Command string `json:"command,omitempty"` // as it was written, or its beginning; empty for the press of a button
}

// Kind implements ranking.Notice.
func (CommandFailed) Kind() string { return kindCommandFailed }

// Purpose implements ranking.Notice.
func (CommandFailed) Purpose() ranking.Purpose { return ranking.Outcome }

var _ = []ranking.Notice{Greeting{}, Help{}, WrongForm{}, GroupOnly{}, UnknownCommand{}, CommandFailed{}}
