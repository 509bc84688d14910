package bot

import (
	"fmt"
	"strings"

	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// english is the English wording: the texts of the bot, and nothing else. Its methods return Telegram's HTML, except for the
// labels of buttons, which are plain text. Every text that people chose must go through showText or showName. A method whose
// name ends in Line returns what stands for the item in a merged message: one line without line breaks.
type english struct{}

// wordingFor returns the wording for an IETF language tag. English is the only one.
func wordingFor(_ string) english {
	return english{}
}

func (english) rankingPage(n stats.RankingPage) string {
	if len(n.Rows) == 0 {
		return "No matches yet. Report the first one: " + formMatch
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
	switch first, last := n.Bounds(); {
	case n.Total > len(n.Rows) && first == last:
		count = fmt.Sprintf("%d of %d players", first, n.Total)
	case n.Total > len(n.Rows):
		count = fmt.Sprintf("%d–%d of %d players", first, last, n.Total)
	case n.Total > 1:
		count = fmt.Sprintf("%d players", n.Total)
	}
	b.WriteString("<i>" + count + " · won–drawn–lost</i>")
	return b.String()
}

func writeRow(b *strings.Builder, r stats.Row) {
	fmt.Fprintf(b, "%d. <b>%s</b> %d · %d–%d–%d\n", r.Position, showName(r.Name), r.Elo, r.Won, r.Drawn, r.Lost)
}

const rankedLater = "You’ll appear in the ranking after your first match."

func (english) joined(n ranking.Joined) string {
	name := showName(n.Name)
	switch {
	case !n.Already:
		return fmt.Sprintf("<b>%s</b>, welcome! Your rating is %d. %s", name, n.Elo, rankedLater)
	case n.Played == 0:
		return fmt.Sprintf("%s, you’re already in, with a rating of %d. %s", name, n.Elo, rankedLater)
	default:
		return fmt.Sprintf("%s, you’re already in, with a rating of %d.", name, n.Elo)
	}
}

func (english) greeting(n Greeting) string {
	if n.Private {
		return "Hello! I keep an <b>Elo ranking</b> for your group: chess, table tennis, table football, " +
			"any game between two sides.\n\n" +
			"Add me to the group where you play. After a match, one of you reports the result there, and I update the ratings. " +
			"There is nothing to set up."
	}
	return "Hello! I keep the <b>Elo ranking</b> of this group.\n\n" +
		formMatch + " – you beat Bob 3 to 1\n" +
		"<code>/ranking</code> – see where everyone stands\n" +
		"<code>/help</code> – everything else"
}

// addToGroup returns the label of the button that adds the bot to a group.
func (english) addToGroup() string { return "Add me to a group" }

// undo returns the label of the button that undoes a match.
func (english) undo() string { return "Undo" }

// restore returns the label of the button that takes an undo back.
func (english) restore() string { return "Restore" }

// cancel returns the label of the button that cancels a prompt.
func (english) cancel() string { return "Cancel" }

func (english) help(n Help) string {
	if n.Topic != "" {
		return english{}.command(n.Topic).help
	}
	var b strings.Builder
	b.WriteString("<b>Commands</b>\n")
	if n.Private {
		b.Reset()
		b.WriteString("I work in groups: add me to the one where you play. These are the commands there:\n")
	}
	for _, c := range commands() {
		for _, line := range (english{}).command(c.Name).usage {
			b.WriteString(line + "\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (english) groupOnly(n GroupOnly) string {
	return "<code>/" + n.Command + "</code> only works in a group: a ranking belongs to the people who play together. " +
		"Add me to your group with the button below."
}

func (english) unknownCommand() string {
	return "I don’t know that command. <code>/help</code> lists the ones I know."
}
