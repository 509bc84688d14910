package telegram

import (
	"encoding/json"
	"fmt"
	"strings"

	"elobot/internal/command"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
)

// outgoing is a message as it is to be sent.
type outgoing struct {
	html string
	// addToGroup puts a button below that adds the bot to a group.
	addToGroup bool
	// undo, if set, puts a button below that undoes the match with this number.
	undo int
}

// maxToast is how many characters the answer to a pressed button may have. It is a bound for UTF-16 units too: which of
// the two Telegram counts is not documented.
const maxToast = 200

// toast returns the message as the answer to a pressed button: its first line as plain text.
func (o outgoing) toast() string {
	line, _, _ := strings.Cut(o.html, "\n")
	return cut(strings.ReplaceAll(plain(line), joiner, ""), maxToast, maxToast)
}

// render puts a notice into the words of a language.
func render(item outbox.Item, words wording) (outgoing, error) {
	switch item.Kind {
	case ranking.KindMatchRecorded:
		return say(item, words.matchRecorded)
	case ranking.KindRankingPage:
		return say(item, words.rankingPage)
	case ranking.KindJoined:
		return say(item, words.joined)
	case ranking.KindMatchUndone:
		return say(item, words.matchUndone)
	case ranking.KindMatchFixed:
		return say(item, words.matchFixed)
	case ranking.KindPlayersMerged:
		return say(item, words.playersMerged)
	case ranking.KindRefusal:
		return say(item, words.refusal)
	case kindGreeting:
		return say(item, words.greeting)
	case kindHelp:
		return say(item, words.help)
	case kindWrongForm:
		return say(item, words.wrongForm)
	case kindGroupOnly:
		return say(item, words.groupOnly)
	case kindUnknownCommand:
		return say(item, func(UnknownCommand) string { return words.unknownCommand() })
	default:
		return outgoing{}, fmt.Errorf("there are no words for a notice of the kind %q", item.Kind)
	}
}

// say reads a notice and says it.
func say[N ranking.Notice](item outbox.Item, words func(N) string) (outgoing, error) {
	var n N
	if err := json.Unmarshal(item.Payload, &n); err != nil {
		return outgoing{}, fmt.Errorf("read notice of the kind %q: %w", item.Kind, err)
	}
	return outgoing{html: words(n), addToGroup: invites(n), undo: undoable(n)}, nil
}

// undoable returns the number of the match that a notice is the card of, if the match counts.
func undoable(n ranking.Notice) int {
	if card, ok := n.(ranking.MatchRecorded); ok && !card.Undone {
		return card.Number
	}
	return 0
}

// invites tells the notices that are about adding the bot to a group.
func invites(n ranking.Notice) bool {
	switch n := n.(type) {
	case Greeting:
		return n.Private
	case Help:
		return n.Private && n.Topic == ""
	case GroupOnly:
		return true
	default:
		return false
	}
}

// hasHelp tells the commands that have a help of their own.
func hasHelp(name string) bool { return isGroupCommand(name) }

// isGroupCommand tells the commands that are about a group's ranking.
func isGroupCommand(name string) bool {
	switch name {
	case command.NameMatch, command.NameRanking, command.NameJoin, command.NameUndo, command.NameFix:
		return true
	default:
		return false
	}
}

// helpTopic returns the command that "/help match" asks about, or nothing.
func helpTopic(args string) string {
	topic := command.CanonicalName(strings.TrimPrefix(args, "/"))
	if hasHelp(topic) {
		return topic
	}
	return ""
}
