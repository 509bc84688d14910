package bot

import (
	"encoding/json"
	"errors"
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
	// table is the message as a table, in the HTML of rich messages; empty if it has none, or the chat does not want it.
	table string
	// line is the short form for a merged message; empty if ranking.IsAlone.
	line string
	// answers says that the message is meant for one person, whose name it may not contain.
	answers bool
	// replyTo is the message that it replies to; 0 for none.
	replyTo int64
	// buttons are the rows of buttons below the message.
	buttons [][]button
}

// maxCallbackAnswer is the maximum length of the answer to a button press, both in characters and in UTF-16 units: Telegram
// does not document which of them it counts.
const maxCallbackAnswer = 200

// callbackAnswer returns the message as the answer to a button press: its first line as plain text.
func (o outgoing) callbackAnswer() string {
	line, _, _ := strings.Cut(o.html, "\n")
	return cut(strings.ReplaceAll(plain(line), joiner, ""), maxCallbackAnswer, maxCallbackAnswer)
}

// errUnknownKind means that a newer release wrote the notice.
var errUnknownKind = errors.New("unknown kind of notice")

// render renders a notice in a language.
func render(item outbox.Item, w words) (outgoing, error) {
	switch item.Kind {
	case ranking.KindMatchRecorded:
		return renderAs(item, w, w.matchRecorded, w.matchLine)
	case ranking.KindResultsSummary:
		return renderAs(item, w, w.resultsSummary, nil)
	case stats.KindRankingPage:
		return renderAs(item, w, w.rankingPage, nil)
	case stats.KindChart:
		return renderAs(item, w, w.chart, nil)
	case stats.KindMatchPage:
		return renderAs(item, w, w.matchPage, nil)
	case stats.KindHistoryPage:
		return renderAs(item, w, w.historyPage, nil)
	case stats.KindOdds:
		return renderAs(item, w, w.odds, nil)
	case stats.KindTeams:
		return renderAs(item, w, w.teams, nil)
	case ranking.KindBoard:
		return renderAs(item, w, w.board, nil)
	case ranking.KindBoardState:
		return renderAs(item, w, w.boardState, w.boardState)
	case ranking.KindBoardNotPinned:
		return renderAs(item, w, w.boardNotPinned, w.boardNotPinned)
	case ranking.KindJoined:
		return renderAs(item, w, w.joined, w.joined)
	case ranking.KindSettings:
		return renderAs(item, w, w.settingsPage, nil)
	case ranking.KindMatchUndone:
		return renderAs(item, w, w.matchUndone, w.undoneLine)
	case ranking.KindMatchRestored:
		return renderAs(item, w, w.matchRestored, w.restoredLine)
	case ranking.KindUndoPrompt:
		return renderAs(item, w, w.undoPrompt, nil)
	case ranking.KindWhichPrompt:
		return renderAs(item, w, w.whichPrompt, nil)
	case ranking.KindUndoDropped:
		return renderAs(item, w, w.undoDropped, w.undoDropped)
	case ranking.KindReportPrompt:
		return renderAs(item, w, w.reportPrompt, nil)
	case ranking.KindOpponentPrompt:
		return renderAs(item, w, w.opponentPrompt, nil)
	case ranking.KindNamePrompt:
		return renderAs(item, w, w.namePrompt, nil)
	case ranking.KindScorePrompt:
		return renderAs(item, w, w.scorePrompt, nil)
	case ranking.KindReportChosen:
		return renderAs(item, w, w.reportChosen, nil)
	case ranking.KindReportDropped:
		return renderAs(item, w, w.reportDropped, w.reportDropped)
	case ranking.KindMatchFixed:
		return renderAs(item, w, w.matchFixed, w.fixedLine)
	case ranking.KindPlayersMerged:
		return renderAs(item, w, w.playersMerged, w.playersMergedLine)
	case ranking.KindGroupDetached:
		return renderAs(item, w, w.groupDetached, w.groupDetached)
	case ranking.KindSettingChanged:
		return renderAs(item, w, w.settingChanged, w.settingChanged)
	case stats.KindMyStanding:
		return renderAs(item, w, w.player, nil)
	case stats.KindMyStandings:
		return renderAs(item, w, w.myStandings, nil)
	case stats.KindHeadToHead:
		return renderAs(item, w, w.headToHead, nil)
	case stats.KindRecords:
		return renderAs(item, w, w.records, nil)
	case stats.KindUnclearPeople:
		return renderAs(item, w, w.unclearPeople, w.unclearPeople)
	case ranking.KindNotRecorded:
		return renderAs(item, w, w.notRecorded, nil)
	case ranking.KindFixOffer:
		return renderAs(item, w, w.fixOffer, nil) // a merged message could not have its button
	case ranking.KindRefusal:
		return renderAs(item, w, w.refusal, w.refusal)
	case kindGreeting:
		return renderAs(item, w, w.greeting, nil)
	case kindHelp:
		return renderAs(item, w, w.help, nil)
	case kindWrongForm:
		return renderAs(item, w, w.wrongForm, w.wrongForm)
	case kindAbout:
		return renderAs(item, w, w.about, w.about)
	case kindGroupOnly:
		return renderAs(item, w, w.groupOnly, nil)
	case kindNoPhotos:
		return renderAs(item, w, w.noPhotos, w.noPhotos)
	case kindCommandFailed:
		return renderAs(item, w, w.commandFailed, w.commandFailed)
	case kindUnknownCommand:
		return renderAs(item, w, w.unknownCommand, w.unknownCommand)
	default:
		return outgoing{}, fmt.Errorf("%w %q", errUnknownKind, item.Kind)
	}
}

// renderAs decodes a notice and renders it. line renders the short form; it is nil if ranking.IsAlone.
func renderAs[N ranking.Notice](item outbox.Item, w words, text, line func(N) string) (outgoing, error) {
	var n N
	if err := json.Unmarshal(item.Payload, &n); err != nil {
		return outgoing{}, fmt.Errorf("read notice of kind %q: %w", item.Kind, err)
	}
	fillNames(reflect.ValueOf(&n).Elem(), item.Names)
	out := outgoing{html: text(n), table: w.table(n), answers: answers(n), buttons: buttonsOf(n, item, w)}
	if line != nil {
		out.line = line(n)
	}
	return out, nil
}

// answers reports whether a notice is meant for one person. Not all such notices contain the name.
func answers(n ranking.Notice) bool {
	switch n.(type) {
	case ranking.Joined, stats.UnclearPeople, ranking.Refusal, WrongForm, UnknownCommand, CommandFailed:
		return true
	default:
		return false
	}
}
