package bot

import (
	"context"
	"encoding/json"

	"elobot/internal/command"
	"elobot/internal/ranking"
)

// matchNumber reads the number of a match that /undo may have.
func (req request) matchNumber() (int, error) { return command.ParseUndo(req.command) }

// rightScore reads what /fix corrects a match to.
func (req request) rightScore() (command.Fix, error) { return command.ParseFix(req.command) }

// undo handles /undo.
func (r *Router) undo(ctx context.Context, req request, number int) error {
	return r.rankings.UndoMatch(ctx, req.origin, r.amendment(req, number))
}

// fix handles /fix.
func (r *Router) fix(ctx context.Context, req request, f command.Fix) error {
	return r.rankings.FixMatch(ctx, req.origin, r.amendment(req, f.Number), scores(f.Scores))
}

// takeBack says which match a command means: that with the number; without one, that which the message tells of or has
// made to which this one replies; else the sender's last.
func (r *Router) amendment(req request, number int) ranking.Amendment {
	t := ranking.Amendment{Match: ranking.MatchRef{Number: number}, IsAdmin: r.isAdmin(req.origin)}
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
