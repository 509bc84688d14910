package stats

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/notice"
	"elobot/internal/ranking"
)

// Gains lists the players with the largest rating gains in the current day, week or month.
type Gains struct {
	Title string `json:"title"` // the group's title
	// Since is the first instant of the span. Its JSON name is month for every span, because stored
	// notices use that name.
	Since time.Time `json:"month"`
	Rows  []GainRow `json:"rows"` // at most MaxPlaces
}

var _ = notice.Register[Gains](notice.Kind{Name: "month_ranking", Purpose: notice.Answer, Alone: true})

// GainRow is a player's rating change and results in a span of time.
type GainRow struct {
	Name   ranking.Name `json:"name"`
	Gained int          `json:"gained"` // the rating change
	Won    int          `json:"won"`
	Drawn  int          `json:"drawn"`
	Lost   int          `json:"lost"`
}

// GainQuestion asks who has gained the most in a current span: a day, a week or a month.
type GainQuestion struct {
	ofNobody
	Span command.Span
}

func (q GainQuestion) answer(ctx context.Context, s *Service, a ranking.Asked) (notice.Notice, error) {
	since, until := timesOf(q.Span, now(a))
	matches, err := s.store.MatchesOf(ctx, a.Ladder.ID, since, until)
	if err != nil {
		return nil, fmt.Errorf("read the matches of a span: %w", err)
	}
	return Gains{Title: a.Origin.Chat.Title, Since: since, Rows: GainRowsOf(matches)}, nil
}

// timesOf returns the first instant of the day, week or month that contains at, in the zone of at,
// and the first instant of the day after at. For any other span, since is zero.
func timesOf(span command.Span, at time.Time) (since, until time.Time) {
	days := map[command.Span]int{command.Today: 0, command.Week: (int(at.Weekday()) + 6) % 7, command.Month: at.Day() - 1}
	if before, ok := days[span]; ok {
		since = ranking.LaterDay(at, -before)
	}
	return since, ranking.LaterDay(at, 1)
}

// GainRowsOf returns the players who gained the most in matches, at most MaxPlaces of them, the
// largest gain first. Ties are in order of player ids. The matches must be complete and ordered by
// position.
func GainRowsOf(matches []ladder.Match) (rows []GainRow) {
	for player, s := range ladder.SummariesOf(matches) {
		name := ranking.Name{Player: player}
		rows = append(rows, GainRow{Name: name, Gained: s.Gained, Won: s.Won, Drawn: s.Drawn, Lost: s.Lost})
	}
	slices.SortFunc(rows, func(a, b GainRow) int {
		return cmp.Or(cmp.Compare(b.Gained, a.Gained), cmp.Compare(a.Name.Player, b.Name.Player))
	})
	return rows[:min(len(rows), MaxPlaces)]
}
