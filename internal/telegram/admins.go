package telegram

import (
	"context"
	"fmt"
	"time"

	"github.com/go-telegram/bot"

	"elobot/internal/ladder"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
)

// adminsTimeout is how long a command waits for the list of admins.
const adminsTimeout = 2 * time.Second

// Admins implements AdminSource. It requests the list of all admins, which Telegram returns to
// every member, because requesting a single member is guaranteed to work only if the bot is an
// admin. It returns no admins and no error if Telegram refuses the request for good, for example
// because the chat is unknown, has another id by now, or does not have the bot as a member.
func (c *Client) Admins(ctx context.Context, chat ranking.ExternalChatID) ([]ladder.UserID, error) {
	ctx, cancel := context.WithTimeout(ctx, adminsTimeout)
	defer cancel()
	var members []struct {
		Status string `json:"status"`
		User   struct {
			ID ladder.UserID `json:"id"`
		} `json:"user"`
	}
	err := c.Call(ctx, "getChatAdministrators", &bot.GetChatAdministratorsParams{ChatID: int64(chat)}, &members)
	if err != nil {
		kind := Failure(err).Kind
		if kind == outbox.Forbidden || kind == outbox.Migrated || RefusesContent(err) {
			// A retry would fail in the same way.
			return nil, nil
		}
		return nil, fmt.Errorf("get admins: %w", err)
	}
	var admins []ladder.UserID
	for _, m := range members {
		if m.User.ID != 0 && (m.Status == "creator" || m.Status == "administrator") {
			admins = append(admins, m.User.ID)
		}
	}
	return admins, nil
}
