package bot

import (
	"context"
	"encoding/json"

	"elobot/internal/command"
	"elobot/internal/ranking"
)

// matchNumber reads the number of the match in an /undo or a /restore, 0 for none.
func (req request) matchNumber() (int, error) { return command.ParseNumber(req.command) }

// correction reads the arguments of a /fix.
func (req request) correction() (command.Fix, error) { return command.ParseFix(req.command) }

func (r *Router) undo(ctx context.Context, req request, number int) error {
	return r.rankings.UndoMatch(ctx, req.origin, r.amendment(req, number))
}

func (r *Router) restore(ctx context.Context, req request, number int) error {
	return r.rankings.RestoreMatch(ctx, req.origin, r.amendment(req, number))
}

func (r *Router) fix(ctx context.Context, req request, f command.Fix) error {
	return r.rankings.FixMatch(ctx, req.origin, r.amendment(req, f.Number), scores(f.Scores))
}

// amendment returns the amendment of the match that a command means: the one with the number; without a number, the one whose
// card or /match the command replies to; otherwise the sender's last one, or the last one that the sender undid.
func (r *Router) amendment(req request, number int) ranking.Amendment {
	t := ranking.Amendment{Match: ranking.MatchRef{Number: number}, IsAdmin: r.isAdmin(req.origin)}
	if to := req.message.replied(); number == 0 && to != nil {
		t.Match = ranking.MatchRef{Message: to.ID, Key: messageKey(req.message.Chat.ID, to.ID)}
		if card, ok := r.cardOf(to); ok {
			t.Match = card.match()
		}
	}
	return t
}

// cardOf returns what the button below a card says, if the message is one of this bot. If a card was sent twice as a possible
// duplicate, the bot knows only the second by its message id; this recognizes both. A button without a tag does not say for sure
// which match is meant.
func (r *Router) cardOf(m *message) (card cardButton, ok bool) {
	for _, data := range r.buttonsBelow(m) {
		if card, ok := parseCardData(data); ok && card.tag != "" {
			return card, true
		}
	}
	return cardButton{}, false
}

// buttonsBelow returns the data of the buttons below a message of this bot.
func (r *Router) buttonsBelow(m *message) (data []string) {
	var markup struct {
		Keyboard [][]struct {
			Data string `json:"callback_data"`
		} `json:"inline_keyboard"`
	}
	if m.From == nil || m.From.ID != r.self.ID || json.Unmarshal(m.ReplyMarkup, &markup) != nil {
		return nil
	}
	for _, row := range markup.Keyboard {
		for _, button := range row {
			data = append(data, button.Data)
		}
	}
	return data
}

// isAdmin returns a function that reports whether the sender is an admin. A command without a sender
// is from an anonymous admin.
func (r *Router) isAdmin(o ranking.Origin) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		if o.Sender == nil {
			return true, nil
		}
		return r.admins.IsAdmin(ctx, o.Chat.ID, o.Sender.ID)
	}
}
