package bot

import (
	"errors"

	"elobot/internal/command"
	"elobot/internal/ranking"
)

// The kinds of notices about commands as such. Like those of the ranking package they are stored as JSON, so fields may be
// added but not removed or renamed.
const (
	kindGreeting       = "greeting"
	kindHelp           = "help"
	kindWrongForm      = "wrong_form"
	kindGroupOnly      = "group_only"
	kindUnknownCommand = "unknown_command"
	kindCommandFailed  = "command_failed"
	kindNoPhotos       = "no_photos"
)

// Greeting introduces the bot.
type Greeting struct {
	Private bool `json:"private,omitempty"`
}

// Kind implements ranking.Notice.
func (Greeting) Kind() string { return kindGreeting }

// Purpose implements ranking.Notice. The greeting of a group is the outcome of adding the bot, so it is sent even
// if it is late.
func (g Greeting) Purpose() ranking.Purpose {
	if g.Private {
		return ranking.Answer
	}
	return ranking.Outcome
}

// Alone makes ranking.IsAlone true.
func (Greeting) Alone() bool { return true }

// Help explains one command, or lists those of a topic. Without either, it lists what everybody needs in a group, and everything in a
// private chat.
type Help struct {
	Topic   string    `json:"topic,omitempty"` // the name of the command
	List    helpTopic `json:"list,omitempty"`
	Private bool      `json:"private,omitempty"`
}

// Kind implements ranking.Notice.
func (Help) Kind() string { return kindHelp }

// Purpose implements ranking.Notice.
func (Help) Purpose() ranking.Purpose { return ranking.Answer }

// Alone makes ranking.IsAlone true.
func (Help) Alone() bool { return true }

// WrongForm says what is wrong with the form of a command.
type WrongForm struct {
	Command string         `json:"command"`
	Reason  command.Reason `json:"reason"`
	Detail  string         `json:"detail,omitempty"`
	Teams   bool           `json:"teams,omitempty"` // a /match with teams
	// Corrected is the command that was probably meant, empty if that is not clear.
	Corrected string `json:"corrected,omitempty"`
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

// Alone makes ranking.IsAlone true.
func (GroupOnly) Alone() bool { return true }

// Refuses marks a refusal.
func (GroupOnly) Refuses() bool { return true }

// UnknownCommand says that there is no such command.
type UnknownCommand struct {
	Meant string `json:"meant,omitempty"` // what was probably meant, without the slash: a command, possibly with its arguments
}

// Kind implements ranking.Notice.
func (UnknownCommand) Kind() string { return kindUnknownCommand }

// Purpose implements ranking.Notice.
func (UnknownCommand) Purpose() ranking.Purpose { return ranking.Answer }

// Refuses marks a refusal.
func (UnknownCommand) Refuses() bool { return true }

// CommandFailed says that a command could not be handled because of a fault of the bot.
type CommandFailed struct {
	Command string `json:"command,omitempty"` // as written, possibly shortened; empty for a button press
}

// Kind implements ranking.Notice.
func (CommandFailed) Kind() string { return kindCommandFailed }

// Purpose implements ranking.Notice.
func (CommandFailed) Purpose() ranking.Purpose { return ranking.Outcome }

// NoPhotos says instead of a picture that the bot may not send photos to the chat. It is never stored: only the attempt shows it.
type NoPhotos struct{}

// Kind implements ranking.Notice.
func (NoPhotos) Kind() string { return kindNoPhotos }

// Purpose implements ranking.Notice.
func (NoPhotos) Purpose() ranking.Purpose { return ranking.Answer }

var _ = []ranking.Notice{NoPhotos{}, Greeting{}, Help{}, WrongForm{}, GroupOnly{}, UnknownCommand{}, CommandFailed{}}
