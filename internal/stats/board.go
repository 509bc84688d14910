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

// Board is what the board of a ladder shows, read when it is sent. All names are filled in.
type Board struct {
	RankingPage
	// On is true if the ladder has its board there. Otherwise there is none any more, and the message says AsOf when the ranking was true
	// for the last time.
	On   bool      `json:"on,omitempty"`
	AsOf time.Time `json:"as_of,omitzero"`
	// ToPin is true if the message is to be pinned. A message that somebody has unpinned is not.
	ToPin bool `json:"-"`
}

// HasMore is true if the ranking has more players than the board.
func (b Board) HasMore() bool { return b.Total > len(b.Rows) }

var _ = notice.Register[Board](notice.Kind{Name: ranking.KindBoard, Purpose: notice.Notification, Alone: true})

// Board returns what a board shows now. object is what identifies its message in the chat. now is in the time
// zone of the chat.
func (s *Service) Board(ctx context.Context, object string, now time.Time) (Board, error) {
	ladder := ranking.LadderOfBoard(object)
	b, err := s.store.Board(ctx, ladder, object, now)
	if err != nil {
		return Board{}, fmt.Errorf("read the board: %w", err)
	}
	if !b.On {
		b.AsOf = now.UTC()
	}
	return b, s.fillNames(ctx, ladder, &b)
}

// RestQuestion asks for the players of the ranking who come after those on its board.
type RestQuestion struct{ ofNobody }

func (RestQuestion) answer(ctx context.Context, s *Service, a ranking.Asked) (notice.Notice, error) {
	return RankingQuestion{Page: 1 + BoardRows/PageRows, Asker: a.Origin.Sender.ID}.answer(ctx, s, a)
}
