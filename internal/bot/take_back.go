package bot

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"elobot/internal/command"
	"elobot/internal/ranking"
)

// undo handles /undo.
func (r *Router) undo(ctx context.Context, req request) error {
	number, err := command.ParseUndo(req.command)
	if form, ok := wrongForm(req.command.Name, err); ok {
		return r.malformed(ctx, req, form)
	}
	if err != nil {
		return fmt.Errorf("read undo: %w", err)
	}
	return r.rankings.UndoMatch(ctx, req.origin, r.takeBack(req, number))
}

// fix handles /fix.
func (r *Router) fix(ctx context.Context, req request) error {
	f, err := command.ParseFix(req.command)
	if form, ok := wrongForm(req.command.Name, err); ok {
		return r.malformed(ctx, req, form)
	}
	if err != nil {
		return fmt.Errorf("read fix: %w", err)
	}
	return r.rankings.FixMatch(ctx, req.origin, r.takeBack(req, f.Number), scores(f.Scores))
}

// takeBack says which match a command means: that with the number; without one, that which the message tells of or has
// made to which this one replies; else the sender's last.
func (r *Router) takeBack(req request, number int) ranking.TakeBack {
	t := ranking.TakeBack{Match: ranking.MatchRef{Number: number}, IsAdmin: r.isAdmin(req.origin)}
	if to := req.message.replied(); number == 0 && to != nil {
		t.Match = ranking.MatchRef{Number: r.undoneBelow(to), Below: to.ID}
		if t.Match.Number == 0 {
			t.Match = ranking.MatchRef{Message: to.ID, Key: messageKey(req.message.Chat.ID, to.ID)}
		}
	}
	return t
}

// undoneBelow returns the number of the match that the button below a message of this bot undoes, or 0. A card that was
// sent twice, because nobody knew that the first had arrived, is known by the second alone.
func (r *Router) undoneBelow(m *message) int {
	var markup struct {
		Keyboard [][]struct {
			Data string `json:"callback_data"`
		} `json:"inline_keyboard"`
	}
	if m.From == nil || m.From.ID != r.self.ID || json.Unmarshal(m.ReplyMarkup, &markup) != nil {
		return 0
	}
	for _, row := range markup.Keyboard {
		for _, button := range row {
			if number, ok := undoNumber(button.Data); ok {
				return number
			}
		}
	}
	return 0
}

// isAdmin returns how to find out whether the sender is an admin. Only admins can be without a name.
func (r *Router) isAdmin(o ranking.Origin) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		if o.Sender == nil {
			return true, nil
		}
		return r.admins.IsAdmin(ctx, o.Chat.ID, o.Sender.ID)
	}
}

// press handles the press of a button. Who pressed it, and under which message, is what Telegram says; what the button
// says may be forged, so it names nothing but a match of the chat that it was pressed in, or a score of the match whose
// command is answered by the message that it stands below.
func (r *Router) press(ctx context.Context, q *callbackQuery, again bool) error {
	o, ok := q.origin(r.now())
	if !ok {
		return nil
	}
	o.Again = again
	number, undo := undoNumber(q.Data)
	right, fix := fixScores(q.Data)
	to := q.Message.replied()
	switch {
	case undo && o.Chat.IsGroup():
		match := ranking.MatchRef{Number: number, Below: q.Message.ID}
		return r.rankings.UndoMatch(ctx, o, ranking.TakeBack{Match: match, IsAdmin: r.isAdmin(o)})
	case fix && o.Chat.IsGroup() && to != nil:
		match := ranking.MatchRef{Message: to.ID, Key: messageKey(q.Message.Chat.ID, to.ID)}
		return r.rankings.FixMatch(ctx, o, ranking.TakeBack{Match: match, IsAdmin: r.isAdmin(o)}, right)
	default:
		return r.rankings.Answer(ctx, o, ranking.Refusal{Code: ranking.UnknownButton})
	}
}

// origin returns where a press came from. ok is false if it is none of a person in a chat that the bot can talk in.
func (q *callbackQuery) origin(now time.Time) (o ranking.Origin, ok bool) {
	if q.ID == "" || q.From == nil || q.From.IsBot || !q.hasChat() {
		return o, false
	}
	o = q.Message.place()
	sender := person(q.From.mentioned())
	o.Key, o.Button, o.Sender, o.SentAt = "c:"+q.ID, q.ID, &sender, now.UTC()
	o.Chat.Language = languageTag(q.From.LanguageCode)
	return o, true
}

// command names what the button does, for the log.
func (q *callbackQuery) command() string {
	if _, ok := undoNumber(q.Data); ok {
		return command.NameUndo
	}
	if _, ok := fixScores(q.Data); ok {
		return command.NameFix
	}
	return "unknown"
}

// hasChat says whether the button was pressed in a chat that the bot can talk in.
func (q *callbackQuery) hasChat() bool {
	return q.Message != nil && q.Message.Chat.ID != 0 && q.Message.Chat.Type != "channel"
}

// undoButton begins the data of a button that undoes a match; the number of the match follows.
const undoButton = "undo:"

// undoData returns the data of the button that undoes a match.
func undoData(number int) string { return undoButton + strconv.Itoa(number) }

// undoNumber returns the number of the match that the button with this data undoes. ok is false for all that undoData
// does not write, and for numbers that no match can have.
func undoNumber(data string) (number int, ok bool) {
	n, err := strconv.ParseInt(strings.TrimPrefix(data, undoButton), 10, 32)
	if err != nil || n <= 0 || undoData(int(n)) != data {
		return 0, false
	}
	return int(n), true
}
