package bot

import (
	"html"

	"elobot/internal/command"
)

// The forms of commands, as examples to copy. Inside <code> nothing becomes a link or a mention.
const (
	formMatch = "<code>/match @bob 3:1</code>"
	formOther = "<code>/match @alice @bob 3:1</code>"
	formReply = "<code>/match 3:1</code>"
	formSets  = "<code>/match @bob 11:7 9:11 11:5</code>"
	formTeams = "<code>/match @alice @bob vs @carol @dave 10:8</code>"

	formTeamsSets = "<code>/match @alice @bob vs @carol @dave 11:7 9:11 11:5</code>"

	formUndo      = "<code>/undo 42</code>"
	formUndoReply = "<code>/undo</code>"

	formRestore      = "<code>/restore 42</code>"
	formRestoreReply = "<code>/restore</code>"

	formFix      = "<code>/fix 42 3:2</code>"
	formFixReply = "<code>/fix 3:2</code>"
	formFixSets  = "<code>/fix 42 11:7 9:11 11:5</code>"
)

// commandText has the texts about a command in one language.
type commandText struct {
	menu        string   // plain text
	privateMenu string   // plain text for private chats; empty if it is the same
	usage       []string // lines of /help
	help        string   // answer to "/<command> help"
}

// menuIn returns the menu line for a kind of chat.
func (t commandText) menuIn(where Where) string {
	if where == InPrivate && t.privateMenu != "" {
		return t.privateMenu
	}
	return t.menu
}

// command returns the texts about a command of the table.
func (english) command(name string) commandText { return englishCommands[name] }

var englishCommands = map[string]commandText{
	command.NameStart: {
		menu: "See what I do and add me to a group",
	},
	command.NameMatch: {
		menu: "Report a result: /match @bob 3:1",
		usage: []string{
			formMatch + " – you beat Bob",
			formOther + " – Alice beat Bob",
			formReply + " – you beat the person you reply to",
		},
		help: "<b>Report a result</b>, the first player’s score first:\n" +
			formMatch + " – you against Bob\n" +
			formOther + " – Alice against Bob\n" +
			formReply + " – you against the person you reply to\n" +
			formSets + " – the score of each set; the sets won decide\n" +
			formTeams + " – two against two; everyone’s rating changes\n\n" +
			"<code>3:1</code>, <code>3-1</code> and <code>3 1</code> mean the same. " +
			"For someone without a username, type @ and pick the name from the list. " +
			"Was a result wrong? <code>/undo</code> removes it, and <code>/fix</code> corrects it.",
	},
	command.NameRanking: {
		menu: "See where everyone stands",
		usage: []string{
			"<code>/ranking</code> – see where everyone stands",
		},
		help: "<code>/ranking</code> shows ten players at a time and your own place, with matches won–drawn–lost. The buttons ‹ and › turn the page. " +
			"Everyone who has played and has not left the group is ranked. <code>/top</code> and <code>/leaderboard</code> do the same.",
	},
	command.NameMe: {
		menu:        "See where you stand",
		privateMenu: "See where you stand in your groups",
		usage: []string{
			"<code>/me</code> – see where you stand; in a private chat, in all your groups",
		},
		help: "In a group, <code>/me</code> shows your place, your best rating and your streak. " +
			"In a private chat with me, it shows where you stand in all your groups.",
	},
	command.NameUndo: {
		menu: "Undo a match: /undo 42",
		usage: []string{
			formUndo + " – undo match #42",
		},
		help: "<b>Undo a match</b>, as if it had never been played:\n" +
			formUndo + " – the match with this number\n" +
			formUndoReply + " – in reply to the match’s card or to its <code>/match</code>\n" +
			formUndoReply + " – otherwise, the last match that you played or reported\n\n" +
			"The button below a card does the same. All later ratings are recalculated. " +
			"The players and the reporter can undo a match for a while, admins at any time. I ask admins to confirm what only they may undo. " +
			"If only the score is wrong, use <code>/fix</code>. <code>/restore</code> takes an undo back.",
	},
	command.NameRestore: {
		menu: "Take an undo back: /restore 42",
		usage: []string{
			formRestore + " – take back the undo of match #42",
		},
		help: "<b>Take an undo back</b>, so that the match counts again in its old place:\n" +
			formRestore + " – the match with this number\n" +
			formRestoreReply + " – in reply to the match’s card or to its <code>/match</code>\n" +
			formRestoreReply + " – otherwise, the last match that you undid\n\n" +
			"The button below the card of an undone match does the same. All later ratings are recalculated. " +
			"For a while after an undo, the person who undid the match can restore it, and so can admins.",
	},
	command.NameFix: {
		menu: "Correct a score: /fix 42 3:2",
		usage: []string{
			formFix + " – correct the score of match #42",
		},
		help: "<b>Correct a score</b>:\n" +
			formFix + " – of the match with this number\n" +
			formFixReply + " – in reply to the match’s card or to its <code>/match</code>\n" +
			formFixReply + " – otherwise, of the last match that you played or reported\n" +
			formFixSets + " – with sets\n\n" +
			"Give the scores in the order of the match’s card, which stays the same even if a correction makes the other side " +
			"the winner. In reply to a <code>/match</code>, use the order of that <code>/match</code>. " +
			"With neither a number nor a reply, your own score comes first; if you did not play, use the order of your " +
			"<code>/match</code>. " +
			"All later ratings are recalculated. If you can undo a match, you can also fix it.",
	},
	command.NameJoin: {
		menu: "Join before your first match",
		usage: []string{
			"<code>/join</code> – join before your first match",
		},
		help: "<code>/join</code> adds you to the players before your first match. " +
			"You don’t need it: everyone named in a result joins automatically.",
	},
	command.NameSettings: {
		menu: "See and change the rules, for admins",
		usage: []string{
			"<code>/settings</code> – see and change the rules, for admins",
		},
		help: "<code>/settings</code> shows admins the rules of the ranking, with buttons to change them. " +
			"Rules about ratings count from the next match on. The start rating is that of newcomers.",
	},
	command.NameHelp: {
		menu: "List the commands",
		usage: []string{
			"<code>/match help</code> – more about a command; this one covers sets and teams",
		},
	},
	nameAbout: {
		menu: "See my release and where my source is",
	},
}

func (english) about(n About) string {
	text := "I’m @" + n.Bot + ", running elobot"
	if n.Release != "" {
		text += " " + html.EscapeString(n.Release)
	}
	text += "."
	if n.Source != "" {
		text += " Source: " + html.EscapeString(n.Source)
	}
	return text
}
