package bot

import (
	"context"
	"errors"
	"net/http"

	botapi "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"elobot/internal/outbox"
	"elobot/internal/telegram"
)

// acknowledgement is the reaction to a message whose result is recorded, while the card has to wait.
const acknowledgement = "👍"

var errNoReactions = errors.New("no reactions in this chat for now")

// React acknowledges a recorded result: it sets a reaction on the message that reported it. After Telegram has refused one, it
// sets none in that chat for a day, or in all chats if the server does not know reactions; and none before the time that
// Telegram asks to wait for.
func (s *Sender) React(ctx context.Context, chat, message int64, begin outbox.Begin) error {
	if s.noReactions.has(chat) {
		return telegram.Rejected(errNoReactions)
	}
	_, err := s.client.Asking(begin).Call(ctx, "setMessageReaction", &botapi.SetMessageReactionParams{
		ChatID: chat, MessageID: int(message),
		Reaction: []models.ReactionType{{
			Type: models.ReactionTypeTypeEmoji, ReactionTypeEmoji: &models.ReactionTypeEmoji{Emoji: acknowledgement},
		}},
	})
	if err == nil {
		return nil
	}
	f := telegram.Failure(err)
	var api *telegram.APIError
	if !errors.As(err, &api) || api.Description == "" { // an answer without a description is not Telegram's own
		return f
	}
	switch api.Status {
	case http.StatusTooManyRequests:
		s.noReactions.add(chat, f.RetryAfter)
	case http.StatusBadRequest, http.StatusForbidden:
		s.noReactions.add(chat, refusalKept)
		f.Class = outbox.Rejected
	case http.StatusNotFound: // no such method
		s.noReactions.add(everyChat, refusalKept)
		f.Class = outbox.Rejected
	}
	return f
}
