package telegram

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"elobot/internal/intake"
)

// readUpdates returns the updates of one answer. An update without a readable id must become a dead
// letter and be confirmed, or it would block all updates behind it. Telegram numbers updates
// consecutively, so the missing id follows from a neighbor's. If there are updates, but none has an
// id, readUpdates fails, and a later poll tries again.
func readUpdates(raws []json.RawMessage, read intake.Reader) ([]intake.Update, error) {
	updates := make([]intake.Update, len(raws))
	var lastErr error
	for i, raw := range raws {
		var err error
		updates[i], err = read(raw)
		lastErr = cmp.Or(err, lastErr)
	}
	numbered := slices.IndexFunc(updates, func(u intake.Update) bool { return u.ID != 0 })
	if numbered < 0 {
		return nil, lastErr
	}
	for i := range updates {
		switch {
		case i < numbered:
			updates[i].ID = updates[numbered].ID - int64(numbered-i)
		case updates[i].ID == 0:
			updates[i].ID = updates[i-1].ID + 1
		}
	}
	return updates, nil
}

// allowedUpdates lists the kinds of updates that the bot receives. Each poll and each registration
// of a webhook lists them, because Telegram would otherwise keep the last setting.
var allowedUpdates = []string{"message", "edited_message", "callback_query", "my_chat_member", "chat_member"}

// pollMargin is how much longer a poll waits for its answer than it asks Telegram to wait for
// updates.
const pollMargin = 10 * time.Second

// Updates polls as specified by intake.Source, and decodes the updates with read.
func (c *Client) Updates(
	ctx context.Context, offset int64, wait time.Duration, read intake.Reader,
) ([]intake.Update, error) {
	ctx, cancel := context.WithTimeout(ctx, wait+pollMargin)
	defer cancel()
	var raws []json.RawMessage
	err := c.getUpdates(ctx,
		pollParams{Offset: offset, Limit: 100, Timeout: int(wait.Seconds()), Allowed: allowedUpdates}, &raws)
	if err != nil {
		return nil, err
	}
	return readUpdates(raws, read)
}

// Confirm confirms updates as specified by intake.Source.
func (c *Client) Confirm(ctx context.Context, offset int64) error {
	var ignored []json.RawMessage // these updates stay unconfirmed and are delivered again
	return c.getUpdates(ctx, pollParams{Offset: offset, Limit: 1, Allowed: allowedUpdates}, &ignored)
}

type pollParams struct {
	Offset  int64    `json:"offset,omitempty"`
	Limit   int      `json:"limit"`
	Timeout int      `json:"timeout"` // in seconds
	Allowed []string `json:"allowed_updates"`
}

func (c *Client) getUpdates(ctx context.Context, params pollParams, updates *[]json.RawMessage) error {
	return pollError(c.request(ctx, "getUpdates", params, updates))
}
