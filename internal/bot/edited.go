package bot

import (
	"context"
	"fmt"
	"time"

	"elobot/internal/command"
	"elobot/internal/ranking"
)

// offerWindow is how many seconds after a /match an edit of it leads to an offer to fix the match: long enough to notice a
// slip, and too short to rewrite history.
const offerWindow = int64(5 * time.Minute / time.Second)

// edited handles an edited message. It never records a match. If somebody corrects the score in a /match that was recorded, it
// offers to fix the match too. All other edits are ignored.
func (r *Router) edited(ctx context.Context, m *message, redelivered bool) error {
	after := m.EditDate - m.Date
	if !m.isFromPerson() || m.ID == 0 || after < 0 || after > offerWindow {
		return nil
	}
	c, ok := command.Parse(m.Text, m.commandEntities(), r.self.Username)
	req := request{message: m, command: c, origin: m.origin()}
	if !ok || c.Name != command.NameMatch || !req.origin.Chat.IsGroup() {
		return nil
	}
	report, err := req.report()
	if _, malformed := wrongForm(c, err); malformed { // or a request for help
		return nil
	}
	if err != nil {
		return fmt.Errorf("read edited match: %w", err)
	}
	recorded := ranking.MatchRef{Message: m.ID, Key: messageKey(m.Chat.ID, m.ID)}
	req.origin.Key = fmt.Sprintf("e:%d:%d:%d", m.Chat.ID, m.ID, m.EditDate)
	req.origin.SentAt, req.origin.Redelivered = time.Unix(m.EditDate, 0).UTC(), redelivered
	return r.rankings.OfferFix(ctx, req.origin, recorded, report)
}

// offer returns the notice if it is an offer to fix a match, or nil.
func offer(n ranking.Notice) *ranking.FixOffer {
	if n, ok := n.(ranking.FixOffer); ok {
		return &n
	}
	return nil
}
