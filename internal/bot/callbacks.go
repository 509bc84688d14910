package bot

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"elobot/internal/command"
	"elobot/internal/ranking"
)

// Callback is a command that people give with a button. The data of a button is a version, the code of its callback, and
// arguments, as in 1u:42:0. It may be forged, so it names neither the person nor the chat: these come from Telegram.
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
	undoCode         = "u"
	restoreCode      = "b" // back
	fixCode          = "f"
	pageCode         = "p"
	ruleCode         = "r"
	promptCode       = "q"
	languageCode     = "l"
	tablesCode       = "t"
	playerCode       = "s" // stats
	againstCode      = "v" // versus
	recordsCode      = "e"
	matchesCode      = "m"
	historyCode      = "h"
	teamsCode        = "n" // next
	reportCode       = "w" // wizard
	celebrationsCode = "c"
	helpCode         = "i" // information
	darkCode         = "d"
	chartCode        = "g" // graph
	postChartCode    = "o" // open
)

// maxData is Telegram's limit for the data of a button, in bytes.
const maxData = 64

// callbackTable is made when it is first needed, because handlers read it too.
var callbackTable lazy[Callback]

func listCallbacks() []Callback {
	return []Callback{
		{Code: undoCode, Command: command.NameUndo, Handle: (*Router).pressUndo},
		{Code: restoreCode, Command: command.NameRestore, Handle: (*Router).pressRestore},
		{Code: fixCode, Command: command.NameFix, Handle: (*Router).pressFix},
		{Code: pageCode, Command: command.NameRanking, Handle: turning(pageCode, parseRankingTurn, (*Router).turnRanking)},
		{Code: ruleCode, Command: command.NameSettings, Handle: (*Router).pressRule},
		{Code: promptCode, Command: "prompt", Handle: (*Router).pressPrompt},
		{Code: languageCode, Command: command.NameSettings, Handle: (*Router).pressLanguage},
		{Code: tablesCode, Command: command.NameSettings, Handle: (*Router).pressTables},
		{Code: playerCode, Command: command.NameStats, Handle: turning(playerCode, parsePlayer, (*Router).turnToPlayer)},
		{Code: againstCode, Command: command.NameH2H, Handle: turning(againstCode, parsePlayer, (*Router).turnToHeadToHead)},
		{Code: recordsCode, Command: command.NameRecords, Handle: turning(recordsCode, parsePeriod, (*Router).turnRecords)},
		{Code: matchesCode, Command: command.NameMatches, Handle: turning(matchesCode, parseMatchTurn, (*Router).turnMatches)},
		{Code: historyCode, Command: command.NameHistory, Handle: turning(historyCode, parseHistoryTurn, (*Router).turnHistory)},
		{Code: teamsCode, Command: command.NameTeams, Handle: turning(teamsCode, parseCount, (*Router).turnTeams)},
		{Code: reportCode, Command: command.NameTeams, Handle: turning(reportCode, parseCount, (*Router).reportTeams)},
		{Code: celebrationsCode, Command: command.NameSettings, Handle: (*Router).pressCelebrations},
		{Code: darkCode, Command: command.NameSettings, Handle: (*Router).pressDarkCharts},
		{Code: chartCode, Command: command.NameChart, Handle: turning(chartCode, parseChart, (*Router).turnChart)},
		{Code: postChartCode, Command: command.NameChart, Handle: turning(postChartCode, parsePlayer, (*Router).postChart)},
		{Code: helpCode, Command: command.NameHelp, Handle: turning(helpCode, parseHelp, (*Router).turnHelp)},
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
	for _, c := range callbackTable.get(listCallbacks) {
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
	return r.pressCard(ctx, p, r.rankings.UndoMatch)
}

// pressRestore handles the button below the card of an undone match.
func (r *Router) pressRestore(ctx context.Context, p press) error {
	return r.pressCard(ctx, p, r.rankings.RestoreMatch)
}

func (r *Router) pressCard(ctx context.Context, p press, amend func(context.Context, ranking.Origin, ranking.Amendment) error) error {
	card, ok := parseCardArgs(p.args)
	switch {
	case !ok:
		return r.unknownButton(ctx, p.origin)
	case card.tag == "":
		return r.rankings.Answer(ctx, p.origin, ranking.Refusal{Code: ranking.OldButton})
	}
	return amend(ctx, p.origin, ranking.Amendment{
		Match: card.match(), Changes: &card.changes, IsAdmin: r.isAdmin(p.origin),
	})
}

// pressFix handles the button of an offer to fix a match. The offer replies to the /match that recorded it. Like turning, it
// edits only messages that have such a button.
func (r *Router) pressFix(ctx context.Context, p press) error {
	changes, scores, ok := fixArgs(p.args)
	to := p.query.Message.replied()
	if !ok || to == nil || !slices.Contains(r.buttonsBelow(p.query.Message), p.query.Data) {
		return r.unknownButton(ctx, p.origin)
	}
	match := ranking.MatchRef{Message: to.ID, Key: messageKey(p.query.Message.Chat.ID, to.ID)}
	fix := ranking.Amendment{Match: match, Changes: &changes, IsAdmin: r.isAdmin(p.origin)}
	return r.rankings.AcceptFix(ctx, p.origin, p.query.Message.ID, fix, scores)
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

// cardButton is what a button below the card of a match says: which match it is, and how often it has changed.
type cardButton struct {
	number, changes int
	tag             ranking.MatchTag // empty if an older release made the button
}

func buttonOf(n ranking.MatchRecorded) cardButton { return cardButton{n.Number, n.Changes, n.Tag} }

func (b cardButton) data(code string) string { return callbackData(code, b.args()) }

func (b cardButton) args() string {
	args := strconv.Itoa(b.number) + ":" + strconv.Itoa(b.changes)
	if b.tag != "" {
		args += ":" + string(b.tag)
	}
	return args
}

func (b cardButton) match() ranking.MatchRef { return ranking.MatchRef{Number: b.number, Tag: b.tag} }

// parseCardArgs reads what args writes. ok is false for all else, and for numbers that no match can have.
func parseCardArgs(args string) (b cardButton, ok bool) {
	number, rest, _ := strings.Cut(args, ":")
	changes, tag, _ := strings.Cut(rest, ":")
	b.tag = ranking.MatchTag(tag)
	if b.number, ok = wholeNumber(number); !ok || b.number == 0 {
		return cardButton{}, false
	}
	b.changes, ok = wholeNumber(changes)
	return b, ok && b.args() == args
}

// wholeNumber reads a number of PostgreSQL's type integer, in the form that strconv.Itoa writes.
func wholeNumber(text string) (n int, ok bool) {
	long, err := strconv.ParseInt(text, 10, 32)
	return int(long), err == nil && long >= 0 && strconv.Itoa(int(long)) == text
}

// parseCardData reads the data of a button below a card. ok is false for all others.
func parseCardData(data string) (b cardButton, ok bool) {
	c, args, found := findCallback(data)
	if !found || c.Code != undoCode && c.Code != restoreCode {
		return cardButton{}, false
	}
	return parseCardArgs(args)
}

// maxScore is the highest number in a score.
const maxScore = 999

// fixData returns the data of the button that accepts an offer, or an empty string if it is too long for a button: how often
// the match has changed, and the scores.
func fixData(n ranking.FixOffer) string {
	return callbackData(fixCode, strconv.Itoa(n.Changes)+","+strings.Join(offeredScores(n), ","))
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

// fixArgs reads the arguments that fixData writes. ok is false for all others, and for scores that no command can have.
func fixArgs(args string) (changes int, scores []ranking.Score, ok bool) {
	first, list, _ := strings.Cut(args, ",")
	if changes, ok = wholeNumber(first); !ok {
		return 0, nil, false
	}
	for one := range strings.SplitSeq(list, ",") {
		a, b, _ := strings.Cut(one, ":")
		first, firstErr := strconv.ParseUint(a, 10, 16)
		second, secondErr := strconv.ParseUint(b, 10, 16)
		s := ranking.Score{A: int(first), B: int(second)}
		if firstErr != nil || secondErr != nil || max(s.A, s.B) > maxScore || showScore([2]int{s.A, s.B}) != one {
			return 0, nil, false
		}
		scores = append(scores, s)
	}
	return changes, scores, len(scores) <= command.MaxSets
}
