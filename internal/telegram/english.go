package telegram

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/go-telegram/bot/models"

	"elobot/internal/command"
	"elobot/internal/ranking"
)

// english is the English wording.
type english struct{}

// The forms of a report, as examples to copy. In <code> nothing becomes a link or a mention.
const (
	formMatch = "<code>/match @bob 3:1</code>"
	formOther = "<code>/match @alice @bob 3:1</code>"
	formReply = "<code>/match 3:1</code>"
)

func (english) matchRecorded(n ranking.MatchRecorded) string {
	first, second := n.Sides[0], n.Sides[1]
	verb := "%s beat %s %d:%d\n"
	if first.Score == second.Score {
		verb = "%s and %s drew %d:%d\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, verb, sideNames(first), sideNames(second), first.Score, second.Score)
	for _, side := range n.Sides {
		for _, p := range side.Players {
			fmt.Fprintf(&b, "%s %s → %d\n", showName(p.Name), signed(p.After-p.Before), p.After)
		}
	}
	notes := []string{fmt.Sprintf("Match #%d", n.Number)}
	if names := nameList(n.NewPlayers); names != "" {
		noun := "new player"
		if len(n.NewPlayers) > 1 {
			noun = "new players"
		}
		notes = append(notes, noun+": "+names)
	}
	switch by := n.ReportedBy; {
	case by == nil:
	case by.Name == nil:
		notes = append(notes, "reported by an admin")
	default:
		notes = append(notes, "reported by "+showName(*by.Name))
	}
	b.WriteString("<i>" + strings.Join(notes, " · ") + "</i>")
	return b.String()
}

// sideNames returns the players of a side in bold.
func sideNames(s ranking.Side) string {
	names := make([]string, len(s.Players))
	for i, p := range s.Players {
		names[i] = "<b>" + showName(p.Name) + "</b>"
	}
	return strings.Join(names, " &amp; ")
}

// signed writes a change with its sign, a real minus.
func signed(n int) string {
	switch {
	case n > 0:
		return "+" + strconv.Itoa(n)
	case n < 0:
		return "−" + strconv.Itoa(-n)
	default:
		return "±0"
	}
}

func nameList(names []ranking.Name) string {
	shown := make([]string, len(names))
	for i, n := range names {
		shown[i] = showName(n)
	}
	return strings.Join(shown, ", ")
}

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

func (english) refusal(n ranking.Refusal) string {
	switch n.Code {
	case ranking.SamePlayer:
		return "Both names are the same person. Name the two who played: " + formOther
	case ranking.NotAPerson:
		return showText(n.Name) + " looks like a bot, and bots don’t play. If it is a person, let them send <code>/join</code> first."
	case ranking.NoDraws:
		return "There are no draws in this ranking, so somebody must have scored more: " + formMatch
	case ranking.NobodyToJoin:
		return "You write as the group, so I cannot see who joins. Send <code>/join</code> under your own name."
	case ranking.TooManyAtOnce:
		return "Too much came in at the same moment, and this was not done. Please send it again."
	default:
		return "That did not work, and nothing was changed."
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

func (english) help(n Help) string {
	switch n.Topic {
	case command.NameMatch:
		return "<b>Report a result</b>, the first one’s points first:\n" +
			formMatch + " – you against Bob\n" +
			formOther + " – Alice against Bob\n" +
			formReply + " – as a reply to a message of the one you played against\n\n" +
			"<code>3:1</code>, <code>3-1</code> and <code>3 1</code> are the same. " +
			"Who has no username can be picked from the list that appears behind the @."
	case command.NameRanking:
		return "<code>/ranking</code> shows the first 20 and your own place, with games won–drawn–lost. " +
			"Whoever has played is ranked. <code>/top</code> and <code>/leaderboard</code> do the same."
	case command.NameJoin:
		return "<code>/join</code> puts you on the list before your first game. " +
			"It is not needed: whoever is named in a result joins by it."
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
		"<code>/join</code> – be on the list before your first game\n" +
		"<code>/match help</code> – more about a command"
}

func (english) wrongForm(n WrongForm) string {
	quoted := "“" + showText(n.Detail) + "”"
	switch n.Reason {
	case command.ReasonEmpty:
		return "Who played, and how did it end? Like this: " + formMatch + ", or for others: " + formOther
	case command.ReasonNoOpponent:
		return "I don’t see against whom. Name them: " + formMatch + ", or reply to a message of theirs with " + formReply
	case command.ReasonNameBothPlayers:
		return "You write as the group, so please name both players: " + formOther
	case command.ReasonTooManyPeople:
		return "That is one person too many, two play: " + formOther
	case command.ReasonSamePerson:
		return "Nobody plays against themselves. Name the other one: " + formMatch
	case command.ReasonBot:
		return "Bots don’t play. Name a person: " + formMatch
	case command.ReasonUnknownMention:
		return quoted + " is not a username that Telegram knows. Pick the person from the list behind the @: " + formMatch
	case command.ReasonUnexpectedWord:
		return "I don’t understand " + quoted + ". A result looks like this: " + formMatch
	case command.ReasonNoScore:
		return "The score is missing: " + formMatch
	case command.ReasonIncompleteScore:
		return "A score has two numbers, I see only " + quoted + ": " + formMatch
	case command.ReasonThirdNumber:
		return "A score has two numbers, " + quoted + " is a third: " + formMatch
	case command.ReasonSeveralScores:
		return "That is more than one score. Send the games won, or each game by itself: " + formMatch
	case command.ReasonNegativeNumber:
		return "A score is never negative, as in " + quoted + ": " + formMatch
	case command.ReasonDecimalNumber:
		return "A score has whole numbers, unlike " + quoted + ": " + formMatch
	case command.ReasonForeignDigits:
		return "I read the digits 0 to 9 only, not " + quoted + ": " + formMatch
	case command.ReasonScoreTooLarge:
		return "Scores go up to 999, " + quoted + " is more: " + formMatch
	default:
		return "I don’t understand that. A result looks like this: " + formMatch
	}
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
		{Command: command.NameJoin, Description: "Be on the list before your first game"},
		{Command: command.NameHelp, Description: "What I understand"},
	}
}

func (english) privateMenu() []models.BotCommand {
	return []models.BotCommand{
		{Command: command.NameStart, Description: "What I do, and how to add me to a group"},
		{Command: command.NameHelp, Description: "What I understand"},
	}
}
