package bot

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"elobot/internal/outbox"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// outgoing is a rendered message.
type outgoing struct {
	html string
	// line is the short form for a merged message; empty if the notice must stand alone.
	line string
	// answers says that the message is meant for one person, whose name it may not contain.
	answers bool
	// replyTo is the message that it replies to; 0 for none.
	replyTo int64
	// addToGroup adds a button that adds the bot to a group.
	addToGroup bool
	// fix, if set, adds a button that accepts the offer. It needs replyTo, which says which match is meant.
	fix *ranking.FixOffer
	// undo, if set, adds a button that undoes the match with this number.
	undo int
}

// maxCallbackAnswer is the maximum length of the answer to a button press, both in characters and in UTF-16 units: Telegram
// does not document which of them it counts.
const maxCallbackAnswer = 200

// callbackAnswer returns the message as the answer to a button press: its first line as plain text.
func (o outgoing) callbackAnswer() string {
	line, _, _ := strings.Cut(o.html, "\n")
	return cut(strings.ReplaceAll(plain(line), joiner, ""), maxCallbackAnswer, maxCallbackAnswer)
}

// render renders a notice in a language.
func render(item outbox.Item, words english) (outgoing, error) {
	switch item.Kind {
	case ranking.KindMatchRecorded:
		return renderAs(item, words.matchRecorded, words.matchLine)
	case ranking.KindResultsExpired:
		return renderAs(item, words.resultsExpired, words.resultsExpired)
	case stats.KindRankingPage:
		return renderAs(item, words.rankingPage, nil)
	case ranking.KindJoined:
		return renderAs(item, words.joined, words.joined)
	case ranking.KindMatchUndone:
		return renderAs(item, words.matchUndone, words.undoneLine)
	case ranking.KindMatchFixed:
		return renderAs(item, words.matchFixed, words.fixedLine)
	case ranking.KindPlayersMerged:
		return renderAs(item, words.playersMerged, words.playersMergedLine)
	case ranking.KindGroupsMerged:
		return renderAs(item, words.groupsMerged, words.groupsMerged)
	case ranking.KindRulesChanged:
		return renderAs(item, words.rulesChanged, words.rulesChangedLine)
	case stats.KindMyStanding:
		return renderAs(item, words.myStanding, words.myStandingLine)
	case stats.KindMyStandings:
		return renderAs(item, words.myStandings, nil)
	case ranking.KindNotRecorded:
		return renderAs(item, words.notRecorded, nil)
	case ranking.KindFixOffer:
		return renderAs(item, words.fixOffer, nil) // a merged message could not have its button
	case ranking.KindRefusal:
		return renderAs(item, words.refusal, words.refusal)
	case kindGreeting:
		return renderAs(item, words.greeting, nil)
	case kindHelp:
		return renderAs(item, words.help, nil)
	case kindWrongForm:
		return renderAs(item, words.wrongForm, words.wrongForm)
	case kindAbout:
		return renderAs(item, words.about, words.about)
	case kindGroupOnly:
		return renderAs(item, words.groupOnly, nil)
	case kindCommandFailed:
		return renderAs(item, words.commandFailed, words.commandFailed)
	case kindUnknownCommand:
		unknown := func(UnknownCommand) string { return words.unknownCommand() }
		return renderAs(item, unknown, unknown)
	default:
		return outgoing{}, fmt.Errorf("unknown kind of notice %q", item.Kind)
	}
}

// renderAs decodes a notice and renders it. line renders the short form; it is nil if the notice must stand alone.
func renderAs[N ranking.Notice](item outbox.Item, words, line func(N) string) (outgoing, error) {
	var n N
	if err := json.Unmarshal(item.Payload, &n); err != nil {
		return outgoing{}, fmt.Errorf("read notice of kind %q: %w", item.Kind, err)
	}
	fillNames(reflect.ValueOf(&n).Elem(), item.Names)
	out := outgoing{html: words(n), answers: answers(n), addToGroup: invites(n), undo: undoable(n), fix: offer(n)}
	if line != nil {
		out.line = line(n)
	}
	return out, nil
}

// answers reports whether a notice is meant for one person. Not all such notices contain the name.
func answers(n ranking.Notice) bool {
	switch n.(type) {
	case ranking.Joined, stats.MyStanding, ranking.Refusal, WrongForm, UnknownCommand, CommandFailed:
		return true
	default:
		return false
	}
}

// undoable returns the number of the match if the notice is the card of a match that counts, or else 0.
func undoable(n ranking.Notice) int {
	if card, ok := n.(ranking.MatchRecorded); ok && !card.Undone {
		return card.Number
	}
	return 0
}

// invites reports whether a notice suggests adding the bot to a group.
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
