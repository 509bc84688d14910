package telegram

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"elobot/internal/intake"
)

var errNoUpdateID = errors.New("no update id")

// ReadUpdate reads the id, the lane and the date of an update for intake. It fails only if there is
// no update id: all other faults are left to the handler.
func ReadUpdate(raw []byte) (intake.Update, error) {
	var u struct {
		ID            int64 `json:"update_id"`
		Message       dated `json:"message"`
		EditedMessage dated `json:"edited_message"`
		MyChatMember  dated `json:"my_chat_member"`
		ChatMember    dated `json:"chat_member"`
		CallbackQuery struct {
			From struct {
				ID int64 `json:"id"`
			} `json:"from"`
			Message inChat `json:"message"`
		} `json:"callback_query"`
	}
	if err := json.Unmarshal(raw, &u); u.ID == 0 {
		return intake.Update{}, fmt.Errorf("read update id: %w", cmp.Or(err, errNoUpdateID))
	}
	// the press of a button without a message goes to the lane of the person
	lane := cmp.Or(u.Message.Chat.ID, u.EditedMessage.Chat.ID, u.MyChatMember.Chat.ID, u.ChatMember.Chat.ID,
		u.CallbackQuery.Message.Chat.ID, u.CallbackQuery.From.ID)
	in := intake.Update{ID: u.ID, Lane: lane, Raw: raw}
	sent := cmp.Or(u.Message.Date, u.EditedMessage.EditDate, u.MyChatMember.Date, u.ChatMember.Date)
	if sent > 0 {
		in.SentAt = time.Unix(sent, 0)
	}
	return in, nil
}

// readUpdates returns the updates of one answer. An update without a readable id must become a dead letter and be confirmed, or it would
// block all updates behind it. Telegram numbers updates consecutively, so its id follows from its neighbour's. Without a neighbour
// readUpdates fails, and a later poll tries again.
func readUpdates(raws []json.RawMessage) ([]intake.Update, error) {
	updates := make([]intake.Update, len(raws))
	var lastErr error
	numbered := false
	for i, raw := range raws {
		u, err := ReadUpdate(raw)
		switch {
		case err != nil:
			lastErr = err
			u = intake.Update{Raw: raw}
			if numbered {
				u.ID = updates[i-1].ID + 1
			}
		case !numbered:
			numbered = true
			for j := range i {
				updates[j].ID = u.ID - int64(i-j)
			}
		}
		updates[i] = u
	}
	if !numbered {
		return nil, lastErr
	}
	return updates, nil
}

// dated is an object with its chat and its date, in Unix seconds.
type dated struct {
	inChat
	Date     int64 `json:"date"`
	EditDate int64 `json:"edit_date"`
}

// inChat is the chat of an object.
type inChat struct {
	Chat struct {
		ID int64 `json:"id"`
	} `json:"chat"`
}

// allowedUpdates are the kinds of updates that the bot receives. Every request sends them, because Telegram otherwise keeps the last
// setting.
var allowedUpdates = []string{"message", "edited_message", "callback_query", "my_chat_member", "chat_member"}

// pollMargin is how long a poll waits for its answer beyond the time that Telegram may wait.
const pollMargin = 10 * time.Second

var _ intake.Source = (*Client)(nil)

// Updates implements intake.Source.
func (c *Client) Updates(ctx context.Context, offset int64, wait time.Duration) ([]intake.Update, error) {
	ctx, cancel := context.WithTimeout(ctx, wait+pollMargin)
	defer cancel()
	var raws []json.RawMessage
	err := c.getUpdates(ctx, pollParams{Offset: offset, Limit: 100, Timeout: int(wait.Seconds()), Allowed: allowedUpdates}, &raws)
	if err != nil {
		return nil, err
	}
	return readUpdates(raws)
}

// Confirm implements intake.Source.
func (c *Client) Confirm(ctx context.Context, offset int64) error {
	var ignored []json.RawMessage // these updates stay unconfirmed and are delivered again
	return c.getUpdates(ctx, pollParams{Offset: offset, Limit: 1, Allowed: allowedUpdates}, &ignored)
}

type pollParams struct {
	Offset  int64    `json:"offset,omitempty"`
	Limit   int      `json:"limit"`
	Timeout int      `json:"timeout"` // seconds
	Allowed []string `json:"allowed_updates"`
}

func (c *Client) getUpdates(ctx context.Context, params pollParams, updates *[]json.RawMessage) error {
	return pollError(c.request(ctx, "getUpdates", params, updates))
}
