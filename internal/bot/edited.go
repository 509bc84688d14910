package bot

import (
	"context"
	"fmt"
	"time"

	"elobot/internal/command"
	"elobot/internal/ranking"
)

// offersWithin is for how long after a /match its correction is taken for one of the match: time enough to see a slip,
// and too little for anybody to rewrite the past.
const offersWithin = int64(5 * time.Minute / time.Second)

// edited handles a message that was edited. It never makes a match; but who corrects the score in a /match that has made
// one is offered to have the match corrected too. All else that people edit is their own affair.
func (r *Router) edited(ctx context.Context, m *message, again bool) error {
	after := m.EditDate - m.Date
	if !m.isFromPerson() || m.ID == 0 || after < 0 || after > offersWithin {
		return nil
	}
	c, ok := command.Parse(m.Text, m.commandEntities(), r.self.Username)
	req := request{message: m, command: c, origin: m.origin()}
	if !ok || c.Name != command.NameMatch || !req.origin.Chat.IsGroup() {
		return nil
	}
	report, err := req.report()
	if _, malformed := wrongForm(c, err); malformed { // also what asks for help
		return nil
	}
	if err != nil {
		return fmt.Errorf("read edited match: %w", err)
	}
	made := ranking.MatchRef{Message: m.ID, Key: messageKey(m.Chat.ID, m.ID)}
	req.origin.Key = fmt.Sprintf("e:%d:%d:%d", m.Chat.ID, m.ID, m.EditDate)
	req.origin.SentAt, req.origin.Redelivered = time.Unix(m.EditDate, 0).UTC(), again
	return r.rankings.OfferFix(ctx, req.origin, made, report)
}

// offer returns the notice itself if it offers to correct a match.
func offer(n ranking.Notice) *ranking.FixOffer {
	if n, ok := n.(ranking.FixOffer); ok {
		return &n
	}
	return nil
}
