package bot

import (
	"unicode/utf8"
)

// button is a button below a message.
type button struct {
	text string
	data string // what a press sends to the bot; empty for a button that copies, opens the web, or adds the bot to a group
	copy string // what a press copies
	web  string // the link of the web board that a press opens
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
func inviteButton(w words) [][]button {
	return [][]button{{{text: w.Text("button.add_to_group", nil)}}}
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

// cancel returns the label of the button that cancels a prompt.
func (w words) cancel() string { return w.Text("button.cancel", nil) }
