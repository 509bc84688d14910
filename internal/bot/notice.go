package bot

import (
	"errors"
	"html"
	"strings"

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

// wrongForm says what is wrong with the form of a command, and shows the right one.
func (w words) wrongForm(n WrongForm) string {
	form, sets := formMatch, formSets
	switch {
	case n.Command == command.NameUndo:
		form = formUndo
	case n.Command == command.NameRestore:
		form = formRestore
	case n.Command == command.NameFix:
		form, sets = formFix, formFixSets
	case n.Command == command.NameOdds:
		form = formOdds
	case n.Command == command.NameTeams:
		form = formPlayers
	case n.Teams:
		form, sets = formTeams, formTeamsSets
	case n.Reason == command.ReasonUnclearWinner:
		form = formBoth
	}
	if n.Corrected != "" {
		form = "<code>" + html.EscapeString(cleanName(n.Corrected)) + "</code>"
		sets = form
	}
	id := "form." + string(n.Reason)
	switch {
	case n.Reason == command.ReasonEmpty && n.Command == command.NameFix:
		id = "form.empty_fix"
	case n.Command == command.NameOdds, n.Command == command.NameTeams:
		id = lineupForm(n)
	case n.Command == command.NameMatch:
	case n.Reason == command.ReasonUnknownMention, n.Reason == command.ReasonUnexpectedWord && strings.HasPrefix(n.Detail, "@"):
		id = "form.number_not_name"
	}
	if !w.Has(id) { // a newer release may know more reasons
		id = "form.unknown"
	}
	return w.Text(id, args{
		"Word": showWord(n.Detail), "Form": form, "Sets": sets, "MaxTeam": command.MaxTeam, "MaxSets": command.MaxSets,
		"Min": command.MinPlayers, "Max": command.MaxPlayers,
	})
}

// lineupForm returns the text about a malformed /odds or /teams. Those about the words in it are the same for all commands.
func lineupForm(n WrongForm) string {
	switch n.Reason {
	case command.ReasonSamePerson, command.ReasonBot, command.ReasonUnknownMention, command.ReasonUnexpectedWord,
		command.ReasonUnknownName, command.ReasonUnclearName:
		return "form." + string(n.Reason)
	}
	if n.Command == command.NameOdds {
		return "form.sides"
	}
	return "form." + string(command.ReasonPlayers)
}

func (w words) commandFailed(n CommandFailed) string {
	if n.Command == "" {
		return w.Text("failed.press", nil)
	}
	return w.Text("failed.command", args{"Command": html.EscapeString(cleanName(n.Command))})
}

func (w words) unknownCommand(n UnknownCommand) string {
	if n.Meant == "" {
		return w.Text("command.unknown", nil)
	}
	return w.Text("command.meant", args{"Command": html.EscapeString(cleanName(n.Meant))})
}

func (w words) groupOnly(n GroupOnly) string {
	return w.Text("command.group_only", args{"Command": n.Command})
}
