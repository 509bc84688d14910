package stats

import (
	"context"
	"fmt"
	"time"

	"elobot/internal/notice"
	"elobot/internal/ranking"
)

// BoardRows is the maximum number of players on a board.
const BoardRows = MaxPlaces

// Board is what the board of a group shows, read when it is sent. All names are filled in.
type Board struct {
	RankingPage
	// On is true if the group has its board there. Otherwise there is none any more, and the message says AsOf when the ranking was true
	// for the last time.
	On   bool      `json:"on,omitempty"`
	AsOf time.Time `json:"as_of,omitzero"`
	// ToPin is true if the message is to be pinned. A message that somebody has unpinned is not.
	ToPin bool `json:"-"`
}

var _ = notice.Register[Board](notice.Kind{Name: ranking.KindBoard, Purpose: notice.Notification, Alone: true})

// Board returns what the board of a group shows now. object is what identifies its message in the chat.
func (s *Service) Board(ctx context.Context, chat ranking.ExternalChatID, object string, now time.Time) (Board, error) {
	b, err := s.store.Board(ctx, chat, object, now)
	if err != nil {
		return Board{}, fmt.Errorf("read the board: %w", err)
	}
	if !b.On {
		b.AsOf = now.UTC()
	}
	return b, nil
}
