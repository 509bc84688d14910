package ranking

import (
	"context"
	"fmt"
)

// MoveChat records that the messenger changed a chat's id. Both ids refer to the same chat from then on. If there already
// is a chat with the new id, because one of its updates came first, the two are combined: the matches of the newer group
// are appended to those of the older one and replayed. MoveChat is idempotent, and does nothing if both ids are unknown.
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

// Appended holds the matches that Store.Move appended to a ladder: all matches of the newer group.
type Appended struct {
	After int // the number of the last match before them, 0 if there is none
	Count int
	// MatchHistory contains the appended matches with their new numbers, and with their entries from the newer ladder.
	// Its standings are those before the appended matches.
	MatchHistory MatchHistory
	Cards        []WaitingCard // unsent cards of the appended matches
}

// WaitingCard is the card of a match that has not been sent yet.
type WaitingCard struct {
	ID           int64 // the store's id of the notice
	Match        MatchID
	SidesSwapped bool // side B comes first on it
	Notice       MatchRecorded
}

// Appendix holds the changes caused by appending matches to a ladder.
type Appendix struct {
	Rewrite Rewrite
	Cards   []WaitingCard // updated
	Notice  Notice        // nil for none
}

// recalculate replays the appended matches after the existing ones.
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
		x.Cards = append(x.Cards, a.MatchHistory.updateCard(card, w))
	}
	if a.After > 0 { // otherwise numbers and ratings stay as members have seen them
		x.Notice = GroupsMerged{First: a.After + 1, Count: a.Count}
	}
	return x, nil
}
