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

// Board is the content of a ladder's board, read when it is sent. All names are filled in.
type Board struct {
	RankingPage
	// On is set if the message is the ladder's board. Otherwise, the board was turned off or moved,
	// and AsOf is the time of the last ranking that the message will show.
	On   bool      `json:"on,omitempty"`
	AsOf time.Time `json:"as_of,omitzero"`
	// ToPin is set if the message is to be pinned. A message that a member has unpinned stays
	// unpinned.
	ToPin bool `json:"-"`
}

// HasMore reports whether the ranking has more players than the board.
func (b Board) HasMore() bool { return b.Total > len(b.Rows) }

var _ = notice.Register[Board](notice.Kind{Name: ranking.KindBoard, Purpose: notice.Notification, Alone: true})

// Board returns the current content of a board. object identifies its message in the chat. now is
// in the chat's time zone.
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

// RestQuestion asks for the ranking, from the first page with players who are not on the board.
type RestQuestion struct{ ofNobody }

func (RestQuestion) answer(ctx context.Context, s *Service, a ranking.Asked) (notice.Notice, error) {
	return RankingQuestion{Page: 1 + BoardRows/PageRows, Asker: a.Origin.Sender.ID}.answer(ctx, s, a)
}
