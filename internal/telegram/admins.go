package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-telegram/bot"

	"elobot/internal/outbox"
	"elobot/internal/ranking"
)

// adminsTimeout is how long a command waits to learn who is an admin.
const adminsTimeout = 2 * time.Second

// IsAdmin tells whether somebody is an admin of a chat. It asks for the list of all admins, which Telegram shows to every member, and not for the
// one person, whom it shows surely to admins alone.
func (c *Client) IsAdmin(ctx context.Context, chat ranking.ExternalChatID, user ranking.UserID) (bool, error) {
	admins, err := c.Admins(ctx, chat)
	return slices.Contains(admins, user), err
}

// Admins implements AdminSource. A chat that the bot may not ask about has none.
func (c *Client) Admins(ctx context.Context, chat ranking.ExternalChatID) ([]ranking.UserID, error) {
	ctx, cancel := context.WithTimeout(ctx, adminsTimeout)
	defer cancel()
	result, err := c.Call(ctx, "getChatAdministrators", &bot.GetChatAdministratorsParams{ChatID: int64(chat)})
	if err != nil {
		var api *APIError
		if errors.As(err, &api) && isRefusal(api.class()) {
			return nil, nil
		}
		return nil, fmt.Errorf("ask for the admins: %w", err)
	}
	var members []struct {
		Status string `json:"status"`
		User   struct {
			ID ranking.UserID `json:"id"`
		} `json:"user"`
	}
	if err := json.Unmarshal(result, &members); err != nil {
		return nil, fmt.Errorf("read the list of admins: %w", err)
	}
	var admins []ranking.UserID
	for _, m := range members {
		if m.User.ID != 0 && (m.Status == "creator" || m.Status == "administrator") {
			admins = append(admins, m.User.ID)
		}
	}
	return admins, nil
}

// isRefusal tells the answers that asking again would not change, as long as the bot is who it is and where it is.
func isRefusal(c outbox.Class) bool {
	return c == outbox.Forbidden || c == outbox.Rejected || c == outbox.Migrated
}
