package bot

import (
	"fmt"
	"strings"

	"github.com/go-telegram/bot/models"

	"elobot/internal/command"
	"elobot/internal/ranking"
)

// english is the English wording.
type english struct{}

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

func (english) rankingPage(n ranking.RankingPage) string {
	if len(n.Rows) == 0 {
		return "Nobody has played yet. The first result makes the ranking: " + formMatch
	}
	var b strings.Builder
	b.WriteString("<b>Ranking</b>")
	if n.Title != "" {
		b.WriteString(" · " + showText(n.Title))
	}
	b.WriteString("\n")
	for _, r := range n.Rows {
		writeRow(&b, r)
	}
	if n.Own != nil {
		b.WriteString("…\n")
		writeRow(&b, *n.Own)
	}
	count := "1 player"
	switch {
	case n.Total > len(n.Rows):
		count = fmt.Sprintf("1–%d of %d players", len(n.Rows), n.Total)
	case n.Total > 1:
		count = fmt.Sprintf("%d players", n.Total)
	}
	b.WriteString("<i>" + count + " · won–drawn–lost</i>")
	return b.String()
}

func writeRow(b *strings.Builder, r ranking.Row) {
	fmt.Fprintf(b, "%d. <b>%s</b> %d · %d–%d–%d\n", r.Position, showName(r.Name), r.Elo, r.Won, r.Drawn, r.Lost)
}

func (english) joined(n ranking.Joined) string {
	name := showName(n.Name)
	switch {
	case !n.Already:
		return fmt.Sprintf("<b>%s</b> joins with a rating of %d and is ranked from the first game on.", name, n.Elo)
	case n.Played == 0:
		return fmt.Sprintf("%s, you are in with a rating of %d, and ranked from your first game on.", name, n.Elo)
	default:
		return fmt.Sprintf("%s, you are in already, with a rating of %d.", name, n.Elo)
	}
}

func (english) greeting(n Greeting) string {
	if n.Private {
		return "Hello! I keep an <b>Elo ranking</b> for a group: chess, table tennis, table football, any game for two.\n\n" +
			"Add me to the group where you play. Whoever has played reports the result there, and I work out the ratings. " +
			"There is nothing to set up."
	}
	return "Hello! I keep the <b>Elo ranking</b> of this group.\n\n" +
		formMatch + " – you beat Bob three to one\n" +
		"<code>/ranking</code> – who stands where\n" +
		"<code>/help</code> – everything else"
}

func (english) addToGroup() string { return "Add me to a group" }

func (english) undo() string { return "Undo" }

func (english) help(n Help) string {
	switch n.Topic {
	case command.NameMatch:
		return "<b>Report a result</b>, the first one’s points first:\n" +
			formMatch + " – you against Bob\n" +
			formOther + " – Alice against Bob\n" +
			formReply + " – as a reply to a message of the one you played against\n" +
			formSets + " – the points of each set; sets won decide\n" +
			formTeams + " – two against two; everybody’s rating moves\n\n" +
			"<code>3:1</code>, <code>3-1</code> and <code>3 1</code> are the same. " +
			"Who has no username can be picked from the list that appears behind the @. " +
			"A wrong result can be taken back with <code>/undo</code> or corrected with <code>/fix</code>."
	case command.NameRanking:
		return "<code>/ranking</code> shows the first 20 and your own place, with games won–drawn–lost. " +
			"Whoever has played is ranked. <code>/top</code> and <code>/leaderboard</code> do the same."
	case command.NameJoin:
		return "<code>/join</code> puts you on the list before your first game. " +
			"It is not needed: whoever is named in a result joins by it."
	case command.NameMe:
		return "<code>/me</code> in a group shows your place in its ranking, your best rating and your streak. " +
			"In a private chat with me it shows where you stand in all your groups."
	case command.NameUndo:
		return "<b>Take a result back</b>, as if it had never been played:\n" +
			formUndo + " – the match with this number\n" +
			formUndoReply + " – in reply to the match’s card or to its <code>/match</code>\n" +
			formUndoReply + " – otherwise the last match that you played or reported\n\n" +
			"The button below a card does the same. All later ratings are worked out anew. " +
			"Those who played or reported a match may undo it for a while, admins always. " +
			"If only the score is wrong, there is <code>/fix</code>."
	case command.NameFix:
		return "<b>Correct a score</b>:\n" +
			formFix + " – that of the match with this number\n" +
			formFixReply + " – in reply to the match’s card or to its <code>/match</code>\n" +
			formFixReply + " – otherwise that of the last match that you played or reported\n" +
			formFixSets + " – with sets\n\n" +
			"The numbers are in the order of the match’s card, which stays the same even when a correction makes the other " +
			"side the winner. In reply to the <code>/match</code> they are in the order of that. " +
			"With neither number nor reply, your own score comes first, or if you did not play, the order is that of your " +
			"<code>/match</code>. " +
			"All later ratings are worked out anew. Who may undo a match may correct it."
	}
	intro := "<b>What I understand</b>\n"
	if n.Private {
		intro = "I work in groups: add me to the one where you play. There I understand:\n"
	}
	return intro +
		formMatch + " – you beat Bob\n" +
		formOther + " – Alice beat Bob\n" +
		formReply + " – in reply to the one you beat\n" +
		"<code>/ranking</code> – who stands where\n" +
		"<code>/me</code> – where you stand, in a private chat in all your groups\n" +
		formUndo + " – take match #42 back\n" +
		formFix + " – correct the score of match #42\n" +
		"<code>/join</code> – be on the list before your first game\n" +
		"<code>/match help</code> – more about a command, here sets and teams"
}

func (english) groupOnly(n GroupOnly) string {
	return "<code>/" + n.Command + "</code> works in a group: a ranking belongs to the people who play together. " +
		"Add me to yours with the button."
}

func (english) unknownCommand() string {
	return "I don’t know this command. <code>/help</code> shows all that I know."
}

func (english) groupMenu() []models.BotCommand {
	return []models.BotCommand{
		{Command: command.NameMatch, Description: "Report a result: /match @bob 3:1"},
		{Command: command.NameRanking, Description: "Who stands where"},
		{Command: command.NameMe, Description: "Where you stand"},
		{Command: command.NameUndo, Description: "Take a result back: /undo 42"},
		{Command: command.NameFix, Description: "Correct a score: /fix 42 3:2"},
		{Command: command.NameJoin, Description: "Be on the list before your first game"},
		{Command: command.NameHelp, Description: "What I understand"},
	}
}

func (english) privateMenu() []models.BotCommand {
	return []models.BotCommand{
		{Command: command.NameStart, Description: "What I do, and how to add me to a group"},
		{Command: command.NameMe, Description: "Where you stand in your groups"},
		{Command: command.NameHelp, Description: "What I understand"},
	}
}
