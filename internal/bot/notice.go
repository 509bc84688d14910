package bot

import (
	"errors"
	"html"
	"strings"

	"elobot/internal/command"
	"elobot/internal/notice"
	"elobot/internal/outbox"
)

// WrongForm says what is wrong with the form of a command.
type WrongForm struct {
	Command string         `json:"command"`
	Reason  command.Reason `json:"reason"`
	Detail  string         `json:"detail,omitempty"`
	Teams   bool           `json:"teams,omitempty"` // a /match with teams
	// Corrected is the command that was probably meant, empty if that is not clear.
	Corrected string `json:"corrected,omitempty"`
}

var _ = notice.Register[WrongForm](notice.Kind{Name: "wrong_form", Purpose: notice.Outcome})

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

var _ = notice.Register[GroupOnly](notice.Kind{Name: "group_only", Purpose: notice.Answer, Alone: true, Refuses: true})

// UnknownCommand says that there is no such command.
type UnknownCommand struct {
	Meant string `json:"meant,omitempty"` // what was probably meant, without the slash: a command, possibly with its arguments
}

var _ = notice.Register[UnknownCommand](notice.Kind{Name: "unknown_command", Purpose: notice.Answer, Refuses: true})

// CommandFailed says that a command could not be handled because of a fault of the bot.
type CommandFailed struct {
	Command string `json:"command,omitempty"` // as written, possibly shortened; empty for a button press
}

var _ = notice.Register[CommandFailed](notice.Kind{Name: "command_failed", Purpose: notice.Outcome})

// NoPhotos says instead of a picture that the bot may not send photos to the chat. It is never stored: only the attempt shows it.
type NoPhotos struct{}

var _ = notice.Register[NoPhotos](notice.Kind{Name: "no_photos", Purpose: notice.Answer})

var _ = shows(view[WrongForm]{text: words.wrongForm, line: words.wrongForm, buttons: wrongFormButtons, personal: true})

func wrongFormButtons(n WrongForm, _ outbox.Item, w words) [][]button {
	return copyButton(n.Corrected, w)
}

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

var _ = shows(view[CommandFailed]{text: words.commandFailed, line: words.commandFailed, personal: true})

func (w words) commandFailed(n CommandFailed) string {
	if n.Command == "" {
		return w.Text("failed.press", nil)
	}
	return w.Text("failed.command", args{"Command": html.EscapeString(cleanName(n.Command))})
}

var _ = shows(view[UnknownCommand]{text: words.unknownCommand, line: words.unknownCommand, buttons: unknownCommandButtons, personal: true})

func unknownCommandButtons(n UnknownCommand, _ outbox.Item, w words) [][]button {
	if !strings.Contains(n.Meant, " ") { // the name of a command alone is typed quickly
		return nil
	}
	return copyButton("/"+n.Meant, w)
}

func (w words) unknownCommand(n UnknownCommand) string {
	if n.Meant == "" {
		return w.Text("command.unknown", nil)
	}
	return w.Text("command.meant", args{"Command": html.EscapeString(cleanName(n.Meant))})
}

var _ = shows(view[GroupOnly]{text: words.groupOnly, buttons: groupOnlyButtons})

func groupOnlyButtons(_ GroupOnly, _ outbox.Item, w words) [][]button { return inviteButton(w) }

func (w words) groupOnly(n GroupOnly) string {
	return w.Text("command.group_only", args{"Command": n.Command})
}
