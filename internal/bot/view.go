package bot

import (
	"encoding/json"
	"fmt"
	"strings"

	"elobot/internal/outbox"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// outgoing is a message as it is to be sent.
type outgoing struct {
	html string
	// line is a shorter html for a message that tells several; empty: it has to stand alone.
	line string
	// answers says that it is meant for one person, whom it may not name.
	answers bool
	// replyTo is the message that it answers, 0 for none.
	replyTo int64
	// addToGroup puts a button below that adds the bot to a group.
	addToGroup bool
	// fix, if set, puts a button below that corrects the match whose command is answered; without that there is none.
	fix *ranking.FixOffer
	// undo, if set, puts a button below that undoes the match with this number.
	undo int
}

// maxToast is how many characters the answer to a pressed button may have. It is a bound for UTF-16 units too: which of
// the two Telegram counts is not documented.
const maxCallbackAnswer = 200

// toast returns the message as the answer to a pressed button: its first line as plain text.
func (o outgoing) callbackAnswer() string {
	line, _, _ := strings.Cut(o.html, "\n")
	return cut(strings.ReplaceAll(plain(line), joiner, ""), maxCallbackAnswer, maxCallbackAnswer)
}

// render puts a notice into the words of a language.
func render(item outbox.Item, words wording) (outgoing, error) {
	switch item.Kind {
	case ranking.KindMatchRecorded:
		return say(item, words.matchRecorded, words.matchLine)
	case ranking.KindResultsExpired:
		return say(item, words.resultsExpired, words.resultsExpired)
	case stats.KindRankingPage:
		return say(item, words.rankingPage, nil)
	case ranking.KindJoined:
		return say(item, words.joined, words.joined)
	case ranking.KindMatchUndone:
		return say(item, words.matchUndone, words.undoneLine)
	case ranking.KindMatchFixed:
		return say(item, words.matchFixed, words.fixedLine)
	case ranking.KindPlayersMerged:
		return say(item, words.playersMerged, words.playersMergedLine)
	case ranking.KindGroupsJoined:
		return say(item, words.groupsJoined, words.groupsJoined)
	case stats.KindMyStanding:
		return say(item, words.myStanding, words.myStandingLine)
	case stats.KindMyStandings:
		return say(item, words.myStandings, nil)
	case ranking.KindNotRecorded:
		return say(item, words.notRecorded, nil)
	case ranking.KindFixOffer:
		return say(item, words.fixOffer, nil) // together with others it would have no button
	case ranking.KindRefusal:
		return say(item, words.refusal, words.refusal)
	case kindGreeting:
		return say(item, words.greeting, nil)
	case kindHelp:
		return say(item, words.help, nil)
	case kindWrongForm:
		return say(item, words.wrongForm, words.wrongForm)
	case kindGroupOnly:
		return say(item, words.groupOnly, nil)
	case kindCommandFailed:
		return say(item, words.commandFailed, words.commandFailed)
	case kindUnknownCommand:
		unknown := func(UnknownCommand) string { return words.unknownCommand() }
		return say(item, unknown, unknown)
	default:
		return outgoing{}, fmt.Errorf("there are no words for a notice of the kind %q", item.Kind)
	}
}

// say reads a notice and says it, in short by line unless it has to stand alone.
func say[N ranking.Notice](item outbox.Item, words, line func(N) string) (outgoing, error) {
	var n N
	if err := json.Unmarshal(item.Payload, &n); err != nil {
		return outgoing{}, fmt.Errorf("read notice of the kind %q: %w", item.Kind, err)
	}
	out := outgoing{html: words(n), answers: answers(n), addToGroup: invites(n), undo: undoable(n), fix: offer(n)}
	if line != nil {
		out.line = line(n)
	}
	return out, nil
}

// answers tells the notices that are meant for one person, of which not all say for whom.
func answers(n ranking.Notice) bool {
	switch n.(type) {
	case ranking.Joined, stats.MyStanding, ranking.Refusal, WrongForm, UnknownCommand, CommandFailed:
		return true
	default:
		return false
	}
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
	case stats.MyStandings:
		return len(n.Groups) == 0
	case GroupOnly:
		return true
	default:
		return false
	}
}
