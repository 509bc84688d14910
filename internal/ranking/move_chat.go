package ranking

import (
	"context"
	"fmt"
	"slices"
)

// MoveChat makes known that the chat with the messenger's id from has the id to now. Whatever comes from either of them
// concerns that one chat from then on. If there is a chat with the new id already, because something came from there
// sooner, the two become one: the matches of the newer group are appended to those of the older one and played again.
// Repeating it changes nothing, and nor does a move of a chat that nobody knows.
func (s *Service) MoveChat(ctx context.Context, from, to ExternalChatID) error {
	if from == to {
		return nil
	}
	err := s.retryOnConflict(ctx, from, func(ctx context.Context, _ int) error {
		return s.store.Move(ctx, from, to, Appended.recalculate)
	}, "command", "move chat", "chat_id", from, "to_chat_id", to)
	if err != nil {
		return fmt.Errorf("move chat: %w", err)
	}
	return nil
}

// Appended is what has been appended to a ladder: all matches of a group that has become one with the ladder's.
type Appended struct {
	After int // the number of the last match before them, 0 if there is none
	Count int
	// Course is that of the appended matches, which have their new numbers, and the history of where they were played.
	// The standings are those before them.
	MatchHistory MatchHistory
	Cards        []WaitingCard // of the appended matches, as they were to be told
}

// WaitingCard is the card of a match that has not been told yet.
type WaitingCard struct {
	ID     int64 // the store's
	Match  MatchID
	Turned bool // side B comes first on it
	Notice MatchRecorded
}

// Appendix is what changes when matches are appended to a ladder.
type Appendix struct {
	Rewrite Rewrite
	Cards   []WaitingCard // as they are to be told now
	Notice  Notice        // nil for nothing
}

// reckon plays the appended matches again, each behind all that stand before it now.
func (a Appended) recalculate() (Appendix, error) {
	standings := make(map[PlayerID]*Standing, len(a.MatchHistory.Standings))
	for _, s := range a.MatchHistory.Standings {
		standing := s.Standing
		standings[s.Player] = &standing
	}
	w, err := a.MatchHistory.replayFrom(standings, ByMerge, func(*PlayedMatch) {})
	if err != nil {
		return Appendix{}, err
	}
	x := Appendix{Rewrite: w}
	for _, card := range a.Cards {
		x.Cards = append(x.Cards, a.MatchHistory.retell(card, w))
	}
	if a.After > 0 { // otherwise nothing has changed that anybody has seen
		x.Notice = GroupsJoined{First: a.After + 1, Count: a.Count}
	}
	return x, nil
}

// retell returns a card with the number, the names and the ratings that its match has after the rewrite.
func (c MatchHistory) retell(waiting WaitingCard, w Rewrite) WaitingCard {
	i := slices.IndexFunc(c.Matches, func(m PlayedMatch) bool { return m.ID == waiting.Match })
	if i < 0 {
		return waiting
	}
	m, n := c.Matches[i], &waiting.Notice
	n.Number = m.Number
	if m.Undone { // it says what the match did where it was played
		return waiting
	}
	before, newBefore := n.Sides, n.NewPlayers
	n.Sides, n.NewPlayers = card(m.Result, c.sides(m.Parts, w.entries(m)), waiting.Turned).Sides, nil
	for side, now := range n.Sides {
		for i, p := range now.Players {
			wasNew := i < len(before[side].Players) && slices.Contains(newBefore, before[side].Players[i].Name)
			if wasNew && c.isNew(p.Name) {
				n.NewPlayers = append(n.NewPlayers, p.Name)
			}
		}
	}
	return waiting
}

// isNew tells whether the one with this name had not played in the ladder before the course.
func (c MatchHistory) isNew(name Name) bool {
	return slices.ContainsFunc(c.Standings, func(s RankedPlayer) bool { return s.Called() == name && s.Played == 0 })
}
