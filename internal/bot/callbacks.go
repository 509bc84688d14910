package bot

import (
	"context"
	"strconv"
	"strings"
	"time"

	"elobot/internal/command"
	"elobot/internal/ranking"
)

// Callback is a command that people give with a button. The data of a button is a version, the code of its callback, and
// arguments, as in 1u:42. It may be forged, so it names neither the person nor the chat: these come from Telegram.
type Callback struct {
	Code    string // short, because the data is limited to 64 bytes
	Command string // the name of the command, for the log
	Handle  func(r *Router, ctx context.Context, p press) error
}

// callbackVersion is the first byte of the data. It changes when old buttons can no longer be read; these are then answered
// as unknown.
const callbackVersion = "1"

// The codes of the callbacks.
const (
	undoCode = "u"
	fixCode  = "f"
	pageCode = "p"
	ruleCode = "r"
)

// maxData is Telegram's limit for the data of a button, in bytes.
const maxData = 64

// callbacks returns the table of callbacks. It is a function because the handlers read it too.
func callbacks() []Callback {
	return []Callback{
		{Code: undoCode, Command: command.NameUndo, Handle: (*Router).pressUndo},
		{Code: fixCode, Command: command.NameFix, Handle: (*Router).pressFix},
		{Code: pageCode, Command: command.NameRanking, Handle: (*Router).pressPage},
		{Code: ruleCode, Command: command.NameSettings, Handle: (*Router).pressRule},
	}
}

// press is a button press with its origin.
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

// findCallback returns the callback of a button and its arguments.
func findCallback(data string) (c Callback, args string, ok bool) {
	if len(data) > maxData {
		return c, "", false
	}
	head, args, _ := strings.Cut(data, ":")
	for _, c := range callbacks() {
		if head == callbackVersion+c.Code {
			return c, args, true
		}
	}
	return c, "", false
}

// argsOf returns the arguments of a button with this code.
func argsOf(code, data string) (args string, ok bool) {
	c, args, ok := findCallback(data)
	return args, ok && c.Code == code
}

// command returns the name of the button's command, for the log.
func (q *callbackQuery) command() string {
	if c, _, ok := findCallback(q.Data); ok {
		return c.Command
	}
	return "unknown"
}

// press handles a button press.
func (r *Router) press(ctx context.Context, q *callbackQuery, retried bool) error {
	o, ok := q.origin(r.now())
	if !ok {
		return nil
	}
	o.Retried = retried
	if c, args, ok := findCallback(q.Data); ok && o.Chat.IsGroup() {
		return c.Handle(r, ctx, press{query: q, args: args, origin: o})
	}
	return r.unknownButton(ctx, o)
}

func (r *Router) unknownButton(ctx context.Context, o ranking.Origin) error {
	return r.rankings.Answer(ctx, o, ranking.Refusal{Code: ranking.UnknownButton})
}

// pressUndo handles the button below a card.
func (r *Router) pressUndo(ctx context.Context, p press) error {
	number, ok := undoNumber(p.query.Data)
	if !ok {
		return r.unknownButton(ctx, p.origin)
	}
	match := ranking.MatchRef{Number: number, NumberMessage: p.query.Message.ID}
	return r.rankings.UndoMatch(ctx, p.origin, ranking.Amendment{Match: match, IsAdmin: r.isAdmin(p.origin)})
}

// pressFix handles the button of an offer to fix a match. The offer replies to the /match that recorded it.
func (r *Router) pressFix(ctx context.Context, p press) error {
	scores, ok := fixScores(p.query.Data)
	to := p.query.Message.replied()
	if !ok || to == nil {
		return r.unknownButton(ctx, p.origin)
	}
	match := ranking.MatchRef{Message: to.ID, Key: messageKey(p.query.Message.Chat.ID, to.ID)}
	return r.rankings.FixMatch(ctx, p.origin, ranking.Amendment{Match: match, IsAdmin: r.isAdmin(p.origin)}, scores)
}

// origin returns where a press came from. ok is false unless a person pressed the button in a chat that the bot can write to.
func (q *callbackQuery) origin(now time.Time) (o ranking.Origin, ok bool) {
	if q.ID == "" || q.From == nil || q.From.IsBot || !q.hasChat() {
		return o, false
	}
	o = q.Message.replyTarget()
	sender := person(q.From.mentioned())
	o.Key, o.Button, o.Sender, o.SentAt = "c:"+q.ID, q.ID, &sender, now.UTC()
	o.Chat.Language = languageTag(q.From.LanguageCode)
	return o, true
}

// hasChat reports whether the button was pressed in a chat that the bot can write to.
func (q *callbackQuery) hasChat() bool {
	return q.Message != nil && q.Message.Chat.ID != 0 && q.Message.Chat.Type != "channel"
}

// undoData returns the data of the button that undoes a match.
func undoData(number int) string { return callbackData(undoCode, strconv.Itoa(number)) }

// undoNumber returns the number of the match that a button undoes. ok is false for data that undoData does not produce, and
// for numbers that no match can have.
func undoNumber(data string) (number int, ok bool) {
	args, ok := argsOf(undoCode, data)
	n, err := strconv.ParseInt(args, 10, 32)
	if !ok || err != nil || n <= 0 || undoData(int(n)) != data {
		return 0, false
	}
	return int(n), true
}

// maxScore is the highest number in a score.
const maxScore = 999

// fixData returns the data of the button that accepts an offer, or an empty string if it is too long for a button.
func fixData(n ranking.FixOffer) string {
	return callbackData(fixCode, strings.Join(offeredScores(n), ","))
}

// offeredScores returns the scores of an offer in the form of a command.
func offeredScores(n ranking.FixOffer) []string {
	if len(n.Sets) == 0 {
		return []string{showScore(n.Score)}
	}
	var all []string
	for _, s := range n.Sets {
		all = append(all, showScore(s))
	}
	return all
}

// fixScores returns the scores that a button corrects a match to. ok is false for data that fixData does not produce, and for
// scores that no command can have.
func fixScores(data string) (scores []ranking.Score, ok bool) {
	list, ok := argsOf(fixCode, data)
	if !ok {
		return nil, false
	}
	for one := range strings.SplitSeq(list, ",") {
		a, b, _ := strings.Cut(one, ":")
		first, firstErr := strconv.ParseUint(a, 10, 16)
		second, secondErr := strconv.ParseUint(b, 10, 16)
		s := ranking.Score{A: int(first), B: int(second)}
		if firstErr != nil || secondErr != nil || max(s.A, s.B) > maxScore || showScore([2]int{s.A, s.B}) != one {
			return nil, false
		}
		scores = append(scores, s)
	}
	return scores, len(scores) <= command.MaxSets
}
