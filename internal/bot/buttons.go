package bot

import "slices"

// button is a button below a message. A button without an action is dropped.
type button struct {
	text    string
	data    string // what a press sends to the bot
	copy    string // what a press copies
	web     string // the link of the web board that a press opens
	starts  string // the parameter of the /start that a press sends in the private chat with the bot
	invites bool   // a press opens Telegram's dialog for adding the bot to a group
}

// usable drops the buttons without an action, and then the rows without buttons.
func usable(rows [][]button) (all [][]button) {
	for _, row := range rows {
		row = slices.DeleteFunc(row, func(b button) bool { return b == button{text: b.text} })
		if len(row) > 0 {
			all = append(all, row)
		}
	}
	return all
}

// chosenMark precedes the label of the button for the current choice.
const chosenMark = "✓ "

// choice returns the label of a button that is one of several choices. The label of the current
// choice begins with chosenMark.
func choice(label string, chosen bool) string {
	if chosen {
		return chosenMark + label
	}
	return label
}

func copyButton(text string, w words) [][]button {
	return [][]button{{{text: w.Text("button.copy", nil), copy: text}}}
}

func inviteButton(w words) [][]button {
	return [][]button{{{text: w.Text("button.add_to_group", nil), invites: true}}}
}

// undoes returns the number of the match that the undo button of a card undoes, or 0 if the message
// has no such button.
func (o outgoing) undoes() int {
	for _, b := range slices.Concat(o.buttons...) {
		if _, ok := argsOf(undoCode, b.data); ok {
			card, _ := parseCardData(b.data)
			return card.number
		}
	}
	return 0
}

func (w words) cancel() string { return w.Text("button.cancel", nil) }
