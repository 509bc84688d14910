package bot

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"elobot/internal/intake"
	"elobot/internal/ranking"
)

// editWindow is the maximum time, in seconds, between a message and an edit that the bot handles.
// That is long enough to correct a slip, and too short to change an old result.
const editWindow = int64(5 * time.Minute / time.Second)

// edited handles an edited message that is a command, if the edit is within editWindow. If the
// original was not a command, was refused, or has only led to a prompt, the service handles the
// edit as a new command. Otherwise the service ignores the edit, unless the message is a /match.
// After the edit of a /match, the service records or asks about additional results, or may say how
// to correct a match whose score, players or ladder differ.
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

// isEditInTime reports whether a person wrote the message and edited it within editWindow.
func (m *message) isEditInTime() bool {
	after := m.EditDate - m.Date
	return m.isFromPerson() && m.ID != 0 && m.Date > 0 && after >= 0 && after <= editWindow
}

// asEdit turns the origin of a message into the origin of its edit. Two edits may have the same
// date, so the key also has a hash of the text.
func (m *message) asEdit(o ranking.Origin) ranking.Origin {
	o.Message, o.Trigger, o.SentAt = o.Key, ranking.ByEdit, time.Unix(m.EditDate, 0).UTC()
	text := sha256.Sum256([]byte(m.Text))
	o.Key = fmt.Sprintf("e:%d:%d:%d:%x", m.Chat.ID, m.ID, m.EditDate, text[:4])
	return o
}
