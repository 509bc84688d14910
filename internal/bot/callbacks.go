package bot

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"elobot/internal/command"
	"elobot/internal/intake"
	"elobot/internal/ladder"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// Callback is a command given by pressing a button. The data of a button consists of a version, the
// code of its callback, and arguments, as in 1u:42:0. In a group with several ladders, the ladder
// may follow, as in 1p:2:1001@7. The data may be forged, so the user who pressed and the chat are
// taken from Telegram's update, never from the data.
type Callback struct {
	Code    string // short, because the data is limited to 64 bytes
	Command string // the name of the command, for the log and for Origin.Instead
	Handle  PressHandler
	Private bool // the button is below messages in private chats, not in groups
}

// PressHandler returns the operation for a press. It returns nil for a press that gets the same
// answer as a press of an unknown button. It may change the origin of the press.
type PressHandler func(r *Router, p *press) ranking.Operation

// callbackVersion is the first byte of the data, and changes when the format of the data does. A
// press of a button with another version is answered like a press of an unknown button.
const callbackVersion = "1"

// maxData is Telegram's limit for the data of a button, in bytes.
const maxData = 64

// press is a button press, with the arguments in the button's data and the origin of the operation.
type press struct {
	query  *callbackQuery
	args   string
	origin ranking.Origin
}

// callbackData returns the data of a button, or an empty string if it is too long.
func callbackData(code, args string) string {
	data := callbackVersion + code + ":" + args
	if len(data) > maxData {
		return ""
	}
	return data
}

// ladderMark separates the ladder from the rest of the data.
const ladderMark = "@"

// dataInLadder adds a ladder to the data of a button. It returns the data unchanged if the ladder
// does not fit, or if the button has no data.
func dataInLadder(data string, ladder ladder.ID) string {
	in := data + ladderMark + strconv.FormatInt(int64(ladder), 10)
	if data == "" || len(in) > maxData {
		return data
	}
	return in
}

// ladderOf returns the ladder in the data of a button, or 0 if there is none.
func ladderOf(data string) ladder.ID {
	_, id, _ := strings.Cut(data, ladderMark)
	ladder, _ := parseID[ladder.ID](id)
	return ladder
}

// The codes of the callbacks in button data. The comments name the words that some of the codes
// abbreviate.
const (
	promptCode    = "q"
	undoCode      = "u"
	askedCode     = "uf" // like undoCode, below a FixPrompt
	restoreCode   = "b"  // back
	fixCode       = "f"
	settingCode   = "c" // choice
	pickCode      = "k"
	teamsCode     = "n" // next
	reportCode    = "w" // wizard
	ladderCode    = "l"
	renameCode    = "rn"
	seasonCode    = "ns" // new season
	helpCode      = "i"  // information
	pageCode      = "p"
	playerCode    = "s" // stats
	againstCode   = "v" // versus
	recordsCode   = "e"
	matchesCode   = "m"
	historyCode   = "h"
	chartCode     = "g" // graph
	postChartCode = "o" // open
	restCode      = "a" // all
	aboutCode     = "y" // who is this
	exportCode    = "x"
	importCode    = "j"
	offWebCode    = "z"
	forgetCode    = "fm" // forget me
)

// callbacks returns the callbacks of all buttons. Callers must not modify the slice.
func callbacks() []Callback {
	makeTables()
	return allCallbacks
}

func tableOfCallbacks() []Callback {
	return []Callback{
		{Code: promptCode, Command: "prompt", Handle: pressPrompt},
		{Code: undoCode, Command: command.NameUndo, Handle: pressingCard(undo)},
		{Code: askedCode, Command: command.NameUndo, Handle: pressingCard(undo)},
		{Code: restoreCode, Command: command.NameRestore, Handle: pressingCard(restore)},
		{Code: fixCode, Command: command.NameFix, Handle: pressFix},
		{Code: settingCode, Command: "settings", Handle: pressSetting},
		pageButton(pickCode, "question", parseIDs, pick),
		pageButton(teamsCode, command.NameTeams, parseTeams, turnTeams),
		pageButton(reportCode, command.NameTeams, parseTeams, reportTeams),
		pageButton(renameCode, nameLadder, anyName, pressRename),
		pageButton(ladderCode, nameLadder, anyName, func(*Router, *press, string) ranking.Operation {
			return ranking.ChangeLadder{}
		}),
		pageButton(exportCode, "export", parseNothing, pressExport),
		pageButton(seasonCode, command.NameSeason, parseStart, pressStart),
		pageButton(aboutCode, namePlayer, parsePlayerButton, pressPlayer),
		pageButton(helpCode, "help", parseHelp, func(_ *Router, _ *press, page Help) ranking.Operation {
			return ranking.Say{Notice: page}
		}),
		pageButton(importCode, nameImport, parseImportButton, pressImport),
		inPrivate(pageButton(offWebCode, "settings", parseOffWeb, pressOffWeb)),
		inPrivate(pageButton(forgetCode, nameForget, parseNothing, pressForget)),
		asking(pageCode, "ranking", false, parsePage),
		asking(playerCode, "stats", false, ofPlayer(func(p ladder.PlayerID) stats.PlayerQuestion {
			return stats.PlayerQuestion{Player: p}
		})),
		asking(againstCode, "h2h", false, ofPlayer(func(p ladder.PlayerID) stats.AgainstSenderQuestion {
			return stats.AgainstSenderQuestion{Player: p}
		})),
		asking(recordsCode, "records", false, parsePeriod),
		asking(matchesCode, "matches", false, parseMatches(matchesCode)),
		asking(historyCode, "history", false, parseMatches(historyCode)),
		asking(chartCode, "chart", false, parseChart),
		// An edit cannot turn a text into a picture, so the chart is a new message.
		asking(postChartCode, "chart", true, ofPlayer(func(p ladder.PlayerID) stats.PlayerChartQuestion {
			return stats.PlayerChartQuestion{Player: p}
		})),
		// The board must not be replaced, so the remaining players are shown in a new message.
		asking(restCode, "board", true,
			func(args string) (stats.RestQuestion, bool) { return stats.RestQuestion{}, args == "" }),
	}
}

// findCallback returns the callback that the data of a button names, and the arguments in the data.
// ok is false if the data is too long, or has another version or an unknown code.
func findCallback(data string) (c Callback, args string, ok bool) {
	if len(data) > maxData {
		return c, "", false
	}
	data, _, _ = strings.Cut(data, ladderMark)
	head, args, _ := strings.Cut(data, ":")
	for _, c := range callbacks() {
		if head == callbackVersion+c.Code {
			return c, args, true
		}
	}
	return c, "", false
}

// argsOf returns the arguments of a button that has this code. ok is false for other buttons.
func argsOf(code, data string) (args string, ok bool) {
	c, args, ok := findCallback(data)
	return args, ok && c.Code == code
}

func (r *Router) press(ctx context.Context, in intake.Update, q *callbackQuery) error {
	o, ok := q.origin(in.SentAt)
	if !ok {
		return nil
	}
	o.Update, o.Retried, o.Ladder = in.ID, in.Retried, ladderOf(q.Data)
	p := press{query: q, origin: o}
	var op ranking.Operation
	if c, args, ok := findCallback(q.Data); ok && c.Private != o.Chat.IsGroup() {
		p.args = args
		op = c.Handle(r, &p)
	}
	if op == nil {
		op = ranking.Say{Notice: ranking.Refusal{Code: ranking.UnknownButton}}
	}
	return r.rankings.Do(ctx, p.origin, op)
}

// buttonsBelow returns the data of the buttons below a message, or nil if this bot did not send the
// message or the buttons are unreadable.
func (r *Router) buttonsBelow(m *message) (data []string) {
	var markup struct {
		Keyboard [][]struct {
			Data string `json:"callback_data"`
		} `json:"inline_keyboard"`
	}
	if m == nil || m.From == nil || m.From.ID != r.self.ID || json.Unmarshal(m.ReplyMarkup, &markup) != nil {
		return nil
	}
	for _, row := range markup.Keyboard {
		for _, button := range row {
			data = append(data, button.Data)
		}
	}
	return data
}

// origin returns the origin of a press. sent is an estimate of when the user pressed. ok is false
// if the press is incomplete, was made by a bot, or is below a message in a channel.
func (q *callbackQuery) origin(sent time.Time) (o ranking.Origin, ok bool) {
	if q.ID == "" || q.From == nil || q.From.IsBot || q.Message == nil ||
		q.Message.Chat.ID == 0 || q.Message.Chat.Type == "channel" {
		return o, false
	}
	// An update with a press has no date, but the press cannot precede its message.
	if shown := time.Unix(q.Message.Date, 0); sent.Before(shown) {
		sent = shown
	}
	o = q.Message.replyTarget()
	sender := q.From.mentioned()
	o.Key, o.Button, o.Pressed, o.Sender, o.SentAt = "c:"+q.ID, q.ID, q.Message.ID, &sender, sent.UTC()
	o.Chat.Language, o.Command = languageTag(q.From.LanguageCode), "unknown"
	if c, _, ok := findCallback(q.Data); ok {
		o.Command = c.Command
	}
	return o, true
}

// pageButton returns the callback of buttons that may replace their message. It handles a press
// only if the press's arguments are valid and the message has a button with this code and valid
// arguments, because forged data must not replace a match's card. parse reads the arguments of a
// button, and reports whether they are valid. turn returns the operation for the parsed arguments.
func pageButton[A any](
	code, command string, parse func(args string) (A, bool), turn func(*Router, *press, A) ranking.Operation,
) Callback {
	isTurn := func(data string) bool {
		args, ok := argsOf(code, data)
		if ok {
			_, ok = parse(args)
		}
		return ok
	}
	return Callback{Code: code, Command: command, Handle: func(r *Router, p *press) ranking.Operation {
		args, ok := parse(p.args)
		if !ok || !slices.ContainsFunc(r.buttonsBelow(p.query.Message), isTurn) {
			return nil
		}
		return turn(r, p, args)
	}}
}

// inPrivate returns the callback c for private chats.
func inPrivate(c Callback) Callback {
	c.Private = true
	return c
}

// asking returns the callback of buttons that ask a question. If posts is true, the answer is a new
// message. Otherwise, it replaces the message that the button belongs to.
func asking[Q ranking.Question](code, command string, posts bool, parse func(args string) (Q, bool)) Callback {
	return pageButton(code, command, parse, func(_ *Router, _ *press, q Q) ranking.Operation {
		return ranking.Ask{Question: q, Posts: posts}
	})
}

// ofPlayer returns a parser for the arguments of a button that asks a question about a player.
func ofPlayer[Q ranking.Question](question func(ladder.PlayerID) Q) func(args string) (Q, bool) {
	return func(args string) (Q, bool) {
		player, ok := parsePlayer(args)
		return question(player), ok
	}
}

// turnRow returns the buttons for the previous and the next page, with before and after as their
// data. A button without data is dropped from the message.
func turnRow(before, after string) []button {
	return []button{{text: "‹", data: before}, {text: "›", data: after}}
}

// parseID parses an id in the format of strconv.FormatInt, and reports whether the text is valid.
// Negative numbers are not valid. 0 is valid, and stands for no id.
func parseID[I ~int64](text string) (I, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return I(n), err == nil && n >= 0 && strconv.FormatInt(n, 10) == text
}
