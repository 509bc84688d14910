package bot

import (
	"strings"
	"unicode/utf8"

	"elobot/internal/outbox"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// button is a button below a message.
type button struct {
	text string
	data string // what a press sends to the bot; empty for a button that copies, or adds the bot to a group
	copy string // what a press copies
}

// chosenMark is before the label of the choice that is in force.
const chosenMark = "✓ "

// choice returns the label of a button that is one of several choices.
func choice(label string, chosen bool) string {
	if chosen {
		return chosenMark + label
	}
	return label
}

// buttonsOf returns the rows of buttons below a notice that is sent alone. item is what the notice was read from.
func buttonsOf(n ranking.Notice, item outbox.Item, w words) [][]button {
	switch n := n.(type) {
	case ranking.MatchRecorded:
		switch {
		case n.Number == 0:
		case !n.Undone:
			return [][]button{{{text: w.undo(), data: buttonOf(n).data(undoCode)}}}
		case n.UndoneBy != nil: // what a merge undid cannot come back
			return [][]button{{{text: w.restore(), data: buttonOf(n).data(restoreCode)}}}
		}
	case ranking.FixOffer: // without the reply nobody knows which match is meant
		if data := fixData(n); item.ReplyTo != 0 && data != "" {
			return [][]button{{{text: w.fixTo(n), data: data}}}
		}
	case stats.RankingPage:
		return turnButtons(n)
	case stats.MyStanding:
		return playerButtons(n, w)
	case stats.HeadToHead:
		return headToHeadButtons(n, w)
	case stats.Records:
		return recordsButtons(n, w)
	case stats.Chart:
		return chartButtons(n, w)
	case stats.MatchPage:
		return matchButtons(n)
	case stats.HistoryPage:
		return historyButtons(n, w)
	case stats.Teams:
		return teamButtons(n, w)
	case ranking.SettingsPage:
		return settingButtons(n, w)
	case Help:
		if !n.Private {
			return helpButtons(n, w)
		}
		if n.Topic == "" {
			return inviteButton(w)
		}
	case WrongForm:
		return copyButton(n.Corrected, w)
	case UnknownCommand:
		if strings.Contains(n.Meant, " ") { // the name of a command alone is typed quickly
			return copyButton("/"+n.Meant, w)
		}
	case ranking.UndoPrompt:
		return undoPromptButtons(n, item.ID, w)
	case ranking.WhichPrompt:
		return whichPromptButtons(n, item.ID, w)
	case ranking.OpponentPrompt:
		return opponentButtons(n, item.ID, w)
	case ranking.NamePrompt:
		return nameButtons(n, w)
	case ranking.ScorePrompt:
		return scoreButtons(n, item.ID, w)
	case ranking.ReportPrompt:
		return reportPromptButtons(n, item.ID, w)
	default:
		if invites(n) {
			return inviteButton(w)
		}
	}
	return nil
}

// maxCopied is how many characters a button can copy.
const maxCopied = 256

// copyButton returns a button that copies a corrected command, none if there is no such command.
func copyButton(text string, w words) [][]button {
	if text == "" || utf8.RuneCountInString(text) > maxCopied {
		return nil
	}
	return [][]button{{{text: w.Text("button.copy", nil), copy: text}}}
}

// inviteButton returns the button that adds the bot to a group.
func inviteButton(w words) [][]button { return [][]button{{{text: w.addToGroup()}}} }

// invites reports whether a notice suggests adding the bot to a group.
func invites(n ranking.Notice) bool {
	switch n := n.(type) {
	case Greeting:
		return n.Private
	case stats.MyStandings:
		return len(n.Groups) == 0
	case GroupOnly:
		return true
	default:
		return false
	}
}

// undoes returns the number of the match that a button of the message undoes, or 0.
func (o outgoing) undoes() int {
	for _, row := range o.buttons {
		for _, b := range row {
			if _, ok := argsOf(undoCode, b.data); ok {
				card, _ := parseCardData(b.data)
				return card.number
			}
		}
	}
	return 0
}

// addToGroup returns the label of the button that adds the bot to a group.
func (w words) addToGroup() string { return w.Text("button.add_to_group", nil) }

// undo returns the label of the button that undoes a match.
func (w words) undo() string { return w.Text("button.undo", nil) }

// restore returns the label of the button that takes an undo back.
func (w words) restore() string { return w.Text("button.restore", nil) }

// cancel returns the label of the button that cancels a prompt.
func (w words) cancel() string { return w.Text("button.cancel", nil) }
