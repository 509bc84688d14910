package bot

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"elobot/internal/intake"
	"elobot/internal/ranking"
)

// editWindow is how many seconds after a message an edit of it is handled: long enough to notice a slip, and too short to rewrite history.
const editWindow = int64(5 * time.Minute / time.Second)

// edited handles an edited message. If the message was no command, or a refused one, its new command is handled as if it were sent now; the
// service ignores it otherwise. If somebody corrects the score in a /match that was recorded, the service offers to fix the match.
func (r *Router) edited(ctx context.Context, in intake.Update, m *message) error {
	if !m.isEditInTime() {
		return nil
	}
	c, ok := m.command(m.commandEntities(), r.self.Username)
	if !ok {
		return nil
	}
	req := newRequest(m, m.asEdit(m.origin()), c)
	req.origin.Update, req.origin.Retried = in.ID, in.Retried
	return r.dispatch(ctx, req)
}

// isEditInTime is true if a person edited the message within the editWindow.
func (m *message) isEditInTime() bool {
	after := m.EditDate - m.Date
	return m.isFromPerson() && m.ID != 0 && m.Date > 0 && after >= 0 && after <= editWindow
}

// asEdit returns the origin of the command in an edited message, given that of the message. Two edits may have the same date, so the key
// has a hash of the text too.
func (m *message) asEdit(o ranking.Origin) ranking.Origin {
	o.Message, o.Trigger, o.SentAt = o.Key, ranking.ByEdit, time.Unix(m.EditDate, 0).UTC()
	text := sha256.Sum256([]byte(m.Text))
	o.Key = fmt.Sprintf("e:%d:%d:%d:%x", m.Chat.ID, m.ID, m.EditDate, text[:4])
	return o
}
