package bot

import "elobot/internal/command"

// The forms of commands, as examples to copy. In <code> nothing becomes a link or a mention.
const (
	formMatch = "<code>/match @bob 3:1</code>"
	formOther = "<code>/match @alice @bob 3:1</code>"
	formReply = "<code>/match 3:1</code>"
	formSets  = "<code>/match @bob 11:7 9:11 11:5</code>"
	formTeams = "<code>/match @alice @bob vs @carol @dave 10:8</code>"

	formTeamsSets = "<code>/match @alice @bob vs @carol @dave 11:7 9:11 11:5</code>"

	formUndo      = "<code>/undo 42</code>"
	formUndoReply = "<code>/undo</code>"
	formFix       = "<code>/fix 42 3:2</code>"
	formFixReply  = "<code>/fix 3:2</code>"
	formFixSets   = "<code>/fix 42 11:7 9:11 11:5</code>"
)

func (english) command(name string) commandText { return englishCommands[name] }

var englishCommands = map[string]commandText{
	command.NameStart: {
		menu: "What I do, and how to add me to a group",
	},
	command.NameMatch: {
		menu: "Report a result: /match @bob 3:1",
		usage: []string{
			formMatch + " – you beat Bob",
			formOther + " – Alice beat Bob",
			formReply + " – in reply to the one you beat",
		},
		help: "<b>Report a result</b>, the first one’s points first:\n" +
			formMatch + " – you against Bob\n" +
			formOther + " – Alice against Bob\n" +
			formReply + " – as a reply to a message of the one you played against\n" +
			formSets + " – the points of each set; sets won decide\n" +
			formTeams + " – two against two; everybody’s rating moves\n\n" +
			"<code>3:1</code>, <code>3-1</code> and <code>3 1</code> are the same. " +
			"Who has no username can be picked from the list that appears behind the @. " +
			"A wrong result can be taken back with <code>/undo</code> or corrected with <code>/fix</code>.",
	},
	command.NameRanking: {
		menu: "Who stands where",
		usage: []string{
			"<code>/ranking</code> – who stands where",
		},
		help: "<code>/ranking</code> shows the first 20 and your own place, with games won–drawn–lost. " +
			"Whoever has played is ranked. <code>/top</code> and <code>/leaderboard</code> do the same.",
	},
	command.NameMe: {
		menu:        "Where you stand",
		privateMenu: "Where you stand in your groups",
		usage: []string{
			"<code>/me</code> – where you stand, in a private chat in all your groups",
		},
		help: "<code>/me</code> in a group shows your place in its ranking, your best rating and your streak. " +
			"In a private chat with me it shows where you stand in all your groups.",
	},
	command.NameUndo: {
		menu: "Take a result back: /undo 42",
		usage: []string{
			formUndo + " – take match #42 back",
		},
		help: "<b>Take a result back</b>, as if it had never been played:\n" +
			formUndo + " – the match with this number\n" +
			formUndoReply + " – in reply to the match’s card or to its <code>/match</code>\n" +
			formUndoReply + " – otherwise the last match that you played or reported\n\n" +
			"The button below a card does the same. All later ratings are worked out anew. " +
			"Those who played or reported a match may undo it for a while, admins always. " +
			"If only the score is wrong, there is <code>/fix</code>.",
	},
	command.NameFix: {
		menu: "Correct a score: /fix 42 3:2",
		usage: []string{
			formFix + " – correct the score of match #42",
		},
		help: "<b>Correct a score</b>:\n" +
			formFix + " – that of the match with this number\n" +
			formFixReply + " – in reply to the match’s card or to its <code>/match</code>\n" +
			formFixReply + " – otherwise that of the last match that you played or reported\n" +
			formFixSets + " – with sets\n\n" +
			"The numbers are in the order of the match’s card, which stays the same even when a correction makes the other " +
			"side the winner. In reply to the <code>/match</code> they are in the order of that. " +
			"With neither number nor reply, your own score comes first, or if you did not play, the order is that of your " +
			"<code>/match</code>. " +
			"All later ratings are worked out anew. Who may undo a match may correct it.",
	},
	command.NameJoin: {
		menu: "Be on the list before your first game",
		usage: []string{
			"<code>/join</code> – be on the list before your first game",
		},
		help: "<code>/join</code> puts you on the list before your first game. " +
			"It is not needed: whoever is named in a result joins by it.",
	},
	command.NameHelp: {
		menu: "What I understand",
		usage: []string{
			"<code>/match help</code> – more about a command, here sets and teams",
		},
	},
}
