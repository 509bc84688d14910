package bot

import (
	"strings"

	"elobot/internal/command"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
)

var _ = shows(view[ranking.WrongForm]{text: words.wrongForm, line: words.wrongForm,
	buttons: wrongFormButtons, personal: true})

func wrongFormButtons(n ranking.WrongForm, _ outbox.Item, w words) [][]button {
	return copyButton(n.Corrected, w)
}

// wrongForm says what is wrong with the form of a command, and usually shows a correct form to
// copy. The forms are in <code>, so that Telegram does not turn the names in them into mentions.
func (w words) wrongForm(n ranking.WrongForm) string {
	form, sets, start := "<code>/match @bobby 3:1</code>", "<code>/match @bobby 11:7 9:11 11:5</code>", command.NameMatch
	if n.Command == command.NameFix {
		start = "fix 42"
	}
	switch {
	case n.Command == command.NameUndo:
		form = "<code>/undo 42</code>"
	case n.Command == command.NameRestore:
		form = "<code>/restore 42</code>"
	case n.Command == command.NameFix && n.Teams:
		form, sets = "<code>/fix 42 @alice @bobby 3:1</code>", "<code>/fix 42 @alice @bobby 11:7 9:11 11:5</code>"
	case n.Command == command.NameFix:
		form, sets = "<code>/fix 42 3:2</code>", "<code>/fix 42 11:7 9:11 11:5</code>"
		if n.Reason == command.ReasonNoScore || n.Reason == command.ReasonUnexpectedWord {
			form += " · <code>/fix 42 @alice @bobby</code>"
		}
	case n.Command == command.NameOdds:
		form = "<code>/odds @bobby</code>"
	case n.Command == command.NameTeams:
		form = "<code>/teams @alice @bobby @carol @david</code>"
	case n.Teams:
		form, sets = "<code>/match @alice @bobby vs @carol @david 10:8</code>",
			"<code>/match @alice @bobby vs @carol @david 11:7 9:11 11:5</code>"
	case n.Reason == command.ReasonUnclearWinner:
		form = "<code>/match @alice @bobby 3:1</code>"
	case n.Command != command.NameMatch: // a question or /settings
		form = strings.ReplaceAll(w.Text("commands."+n.Command+".usage", nil), "\n", " · ")
	}
	if n.Reason == command.ReasonUnknownName || n.Reason == command.ReasonUnclearName {
		form = strings.Replace(form, "@bobby", codeText("@"+n.Detail), 1)
	}
	if n.Corrected != "" {
		form = "<code>" + codeText(n.Corrected) + "</code>"
		sets = form
	}
	id := "form." + string(n.Reason)
	switch {
	case n.Command == command.NameOdds, n.Command == command.NameTeams:
		id = lineupForm(n)
	case n.Command == command.NameMatch, n.Command == command.NameFix && n.Teams:
	case !isAmendment(n.Command): // the other commands reject "@bobby" like any unexpected word
	case n.Reason == command.ReasonUnknownMention,
		n.Reason == command.ReasonUnexpectedWord && strings.HasPrefix(n.Detail, "@"):
		id = "form.number_not_name"
	}
	if !w.Has(id) { // a newer release may have more reasons
		id = "form.unknown"
	}
	return w.Text(id, args{
		"Word": showWord(n.Detail), "Form": form, "Sets": sets, "MaxTeam": command.MaxTeam, "MaxSets": command.MaxSets,
		"Min": command.MinPlayers, "Max": command.MaxPlayers, "MaxStandIns": command.MaxStandIns,
		"Start": start,
	})
}

func isAmendment(name string) bool {
	return name == command.NameUndo || name == command.NameRestore || name == command.NameFix
}

// lineupForm returns the id of the text about a malformed /odds or /teams. Texts about a single
// word are shared with other commands.
func lineupForm(n ranking.WrongForm) string {
	switch n.Reason {
	case command.ReasonSamePerson, command.ReasonBot, command.ReasonUnknownMention, command.ReasonUnexpectedWord:
		return "form." + string(n.Reason)
	}
	if n.Command == command.NameOdds {
		return "form.sides"
	}
	return "form." + string(command.ReasonPlayers)
}
