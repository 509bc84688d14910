package telegram

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"elobot/internal/intake"
)

// errNoUpdateID says of something that it is no update.
var errNoUpdateID = errors.New("there is no update id")

// ReadUpdate returns an update as intake takes it. No more of it is read than its place: what cannot be read further is
// the handler's to say. It is an error only if there is no update id.
func ReadUpdate(raw []byte) (intake.Update, error) {
	var u struct {
		ID            int64  `json:"update_id"`
		Message       inChat `json:"message"`
		EditedMessage inChat `json:"edited_message"`
		MyChatMember  inChat `json:"my_chat_member"`
		ChatMember    inChat `json:"chat_member"`
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
	// a button without a message is nobody's but who has pressed it
	lane := cmp.Or(u.Message.Chat.ID, u.EditedMessage.Chat.ID, u.MyChatMember.Chat.ID, u.ChatMember.Chat.ID,
		u.CallbackQuery.Message.Chat.ID, u.CallbackQuery.From.ID)
	return intake.Update{ID: u.ID, Lane: lane, Raw: raw}, nil
}

// readUpdates returns the updates of one answer. Telegram numbers updates one after the other, so what has no readable
// number has the one next to its neighbour's: it must reach the dead letters and be confirmed, or all that is behind it
// would never be seen. With no neighbour it waits for one, which is an error.
func readUpdates(raws []json.RawMessage) ([]intake.Update, error) {
	updates := make([]intake.Update, len(raws))
	var unknown error
	numbered := false
	for i, raw := range raws {
		u, err := ReadUpdate(raw) // each by itself
		switch {
		case err != nil:
			unknown = err
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
		return nil, unknown
	}
	return updates, nil
}

// inChat is the part of something that says which chat it is in.
type inChat struct {
	Chat struct {
		ID int64 `json:"id"`
	} `json:"chat"`
}
