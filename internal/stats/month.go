package stats

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"elobot/internal/notice"
	"elobot/internal/ranking"
)

// MonthRanking shows who has gained most in a month.
type MonthRanking struct {
	Title string     `json:"title"` // of the group
	Month time.Time  `json:"month"` // its first instant
	Rows  []MonthRow `json:"rows"`  // at most MaxPlaces
}

var _ = notice.Register[MonthRanking](notice.Kind{Name: "month_ranking", Purpose: notice.Answer, Alone: true})

// MonthRow is what a player has done in a month.
type MonthRow struct {
	Name   ranking.Name `json:"name"`
	Gained int          `json:"gained"` // by how much the rating changed
	Won    int          `json:"won"`
	Drawn  int          `json:"drawn"`
	Lost   int          `json:"lost"`
}

// MonthQuery asks for the ranking of the current month.
type MonthQuery struct{}

func (MonthQuery) inquiry(s *Service, o ranking.Origin) ranking.Inquiry {
	return ranking.Ask(func(ctx context.Context, here ranking.Where) (notice.Notice, error) {
		month := ranking.MonthOf(o.SentAt, here.Zone)
		matches, err := s.store.MatchesOf(ctx, here.ID, month, ranking.LaterMonth(month, 1))
		if err != nil {
			return nil, fmt.Errorf("read the matches of a month: %w", err)
		}
		return MonthRanking{Title: o.Chat.Title, Month: month, Rows: MonthRowsOf(matches)}, nil
	})
}

// MonthRowsOf returns who has gained most in matches, of equal ones the one with the smaller id first.
func MonthRowsOf(matches []Match) (rows []MonthRow) {
	for player, p := range summariesOf(matches) {
		rows = append(rows, MonthRow{Name: ranking.Name{Player: player}, Gained: p.gained, Won: p.won, Drawn: p.drawn, Lost: p.lost})
	}
	slices.SortFunc(rows, func(a, b MonthRow) int {
		return cmp.Or(cmp.Compare(b.Gained, a.Gained), cmp.Compare(a.Name.Player, b.Name.Player))
	})
	return rows[:min(len(rows), MaxPlaces)]
}
