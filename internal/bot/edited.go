package bot

import (
	"context"
	"fmt"
	"strconv"
	"strings"
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
	if _, malformed := wrongForm(c.Name, err); malformed { // also what asks for help
		return nil
	}
	if err != nil {
		return fmt.Errorf("read edited match: %w", err)
	}
	made := ranking.MatchRef{Message: m.ID, Key: messageKey(m.Chat.ID, m.ID)}
	req.origin.Key = fmt.Sprintf("e:%d:%d:%d", m.Chat.ID, m.ID, m.EditDate)
	req.origin.SentAt, req.origin.Again = time.Unix(m.EditDate, 0).UTC(), again
	return r.rankings.OfferFix(ctx, req.origin, made, report)
}

// offer returns the notice itself if it offers to correct a match.
func offer(n ranking.Notice) *ranking.FixOffer {
	if n, ok := n.(ranking.FixOffer); ok {
		return &n
	}
	return nil
}

const (
	// fixButton begins the data of a button that corrects a match; the scores follow, with commas between them.
	fixButton = "fix:"
	// maxData is how many bytes the data of a button may have.
	maxData = 64
	// maxScore is the highest number in a score.
	maxScore = 999
)

// fixData returns the data of the button that corrects a match as it is offered, empty if it is too long for a button.
func fixData(n ranking.FixOffer) string {
	data := fixButton + strings.Join(offeredScores(n), ",")
	if len(data) > maxData {
		return ""
	}
	return data
}

// offeredScores returns the scores of an offer, as they are written in a command.
func offeredScores(n ranking.FixOffer) []string {
	if len(n.Sets) == 0 {
		return []string{showScore(n.Score)}
	}
	var all []string
	for _, s := range n.Sets {
		all = append(all, showScore(s))
	}
	return all
}

// fixScores returns the scores that the button with this data gives to a match. ok is false for all that fixData does not
// write, and for scores that no command can have.
func fixScores(data string) (scores []ranking.Score, ok bool) {
	list, ok := strings.CutPrefix(data, fixButton)
	if !ok || len(data) > maxData {
		return nil, false
	}
	for one := range strings.SplitSeq(list, ",") {
		a, b, _ := strings.Cut(one, ":")
		first, firstErr := strconv.ParseUint(a, 10, 16)
		second, secondErr := strconv.ParseUint(b, 10, 16)
		s := ranking.Score{A: int(first), B: int(second)}
		if firstErr != nil || secondErr != nil || max(s.A, s.B) > maxScore || showScore([2]int{s.A, s.B}) != one {
			return nil, false
		}
		scores = append(scores, s)
	}
	return scores, len(scores) <= command.MaxSets
}
