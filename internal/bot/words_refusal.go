package bot

import (
	"html"
	"strings"

	"elobot/internal/command"
	"elobot/internal/ranking"
)

// refusal says why a command was refused. A text that counts says minutes, or hours if possible. A newer release may have
// refused for a reason that this one does not know.
func (w words) refusal(n ranking.Refusal) string {
	id := "refusal." + string(n.Code)
	with := args{"Number": n.Number}
	switch n.Code {
	case ranking.NothingOfYours, ranking.TooLate, ranking.UndoneLongAgo, ranking.NothingToRestore:
		if n.Minutes%60 == 0 {
			return w.Plural(id+"_hours", n.Minutes/60, with)
		}
		return w.Plural(id+"_minutes", n.Minutes, with)
	case ranking.TooFarBack:
		return w.Plural(id, n.Matches, with)
	case ranking.NotPlayed:
		return w.Text("me.not_played", nil)
	case ranking.TooManyMatches:
		with["Matches"] = n.Matches
	case ranking.NotAPerson, ranking.NoSuchPlayer:
		with["Name"] = showText(n.Name)
	case ranking.UndoneAlready:
		if n.Minutes > 0 {
			id += "_restore"
		}
	}
	if !w.Has(id) {
		id = "refusal.unknown"
	}
	return w.Text(id, with)
}

// The forms of commands, as examples to copy. Inside <code> nothing becomes a link or a mention.
const (
	formMatch     = "<code>/match @bob 3:1</code>"
	formBoth      = "<code>/match @alice @bob 3:1</code>"
	formSets      = "<code>/match @bob 11:7 9:11 11:5</code>"
	formTeams     = "<code>/match @alice @bob vs @carol @dave 10:8</code>"
	formTeamsSets = "<code>/match @alice @bob vs @carol @dave 11:7 9:11 11:5</code>"
	formUndo      = "<code>/undo 42</code>"
	formRestore   = "<code>/restore 42</code>"
	formFix       = "<code>/fix 42 3:2</code>"
	formOdds      = "<code>/odds @bob</code>"
	formPlayers   = "<code>/teams @alice @bob @carol @dave</code>"
	formFixSets   = "<code>/fix 42 11:7 9:11 11:5</code>"
)

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
