package stats

import (
	"context"
	"fmt"
	"time"

	"elobot/internal/notice"
	"elobot/internal/ranking"
)

// SeasonTable is how a season of a ladder stands, or how it ended.
type SeasonTable struct {
	Title  string      `json:"title"`          // of the group, with the name of the ladder if there are others
	Number int         `json:"number"`         // of the season, 0 if the ladder has no such season
	Name   string      `json:"name,omitempty"` // empty if nobody has named it
	Since  time.Time   `json:"since,omitzero"` // the instant of its beginning, zero for the first one
	Until  time.Time   `json:"until,omitzero"` // the instant of its end, zero if that is not known
	Over   bool        `json:"over,omitempty"`
	Rows   []SeasonRow `json:"rows"`           // who has played in it; those with places come first
	More   int         `json:"more,omitempty"` // how many more have played in it
	// NoDraws is true if the ladder's rules exclude draws.
	NoDraws bool     `json:"no_draws,omitempty"`
	Played  *Record  `json:"played,omitempty"` // the most matches; without a match
	Streak  *Record  `json:"streak,omitempty"` // the most wins in a row, MinStreak or more; without a match
	Upset   *UpsetBy `json:"upset,omitempty"`  // the victory over the side whose rating was higher by most, ranking.MinUpset or more
}

var _ = notice.Register[SeasonTable](notice.Kind{Name: "season_table", Purpose: notice.Answer, Alone: true})

// SeasonEnd tells how a season ended. It is read when it is sent.
type SeasonEnd struct {
	SeasonTable
	// Corrected is true in a message that tells it again, because the first one cannot be edited.
	Corrected bool `json:"corrected,omitempty"`
}

var _ = notice.Register[SeasonEnd](notice.Kind{Name: ranking.KindSeason, Purpose: notice.Notification, Alone: true})

// SeasonRow is a player in a SeasonTable.
type SeasonRow struct {
	Name  ranking.Name `json:"name"`
	Place int          `json:"place,omitempty"` // 0 for none; equal ratings share one, and the next ones are left out
	Elo   int          `json:"elo"`
	Won   int          `json:"won"`
	Drawn int          `json:"drawn"`
	Lost  int          `json:"lost"`
}

// SeasonRows is the maximum number of rows of a SeasonTable.
const SeasonRows = 20

// SeasonStanding is a standing in a season.
type SeasonStanding struct {
	Player           ranking.PlayerID
	Elo              int
	Won, Drawn, Lost int
	LongestStreak    int
}

func (s SeasonStanding) played() int { return s.Won + s.Drawn + s.Lost }

// SetStandings sets what follows from the standings of those who have played in the season, which are in the order of their ratings. Who has
// played so many matches has a place. As long as fewer than ranking.MinPlaces have, all have one.
func (n *SeasonTable) SetStandings(all []SeasonStanding, placeMatches int) {
	placed := 0
	for _, s := range all {
		if s.played() >= placeMatches {
			placed++
		}
	}
	hasPlace := func(s SeasonStanding) bool { return placed < ranking.MinPlaces || s.played() >= placeMatches }
	var rows, others []SeasonRow
	for _, s := range all {
		row := SeasonRow{Name: ranking.Name{Player: s.Player}, Elo: s.Elo, Won: s.Won, Drawn: s.Drawn, Lost: s.Lost}
		switch before := len(rows); {
		case !hasPlace(s):
			others = append(others, row)
			continue
		case before > 0 && rows[before-1].Elo == s.Elo:
			row.Place = rows[before-1].Place
		default:
			row.Place = before + 1
		}
		rows = append(rows, row)
	}
	rows = append(rows, others...)
	n.More = max(0, len(rows)-SeasonRows)
	n.Rows = rows[:len(rows)-n.More]
	for _, s := range all {
		name := ranking.Name{Player: s.Player}
		if n.Played == nil || s.played() > n.Played.Value {
			n.Played = &Record{Name: name, Value: s.played()}
		}
		if s.LongestStreak >= MinStreak && (n.Streak == nil || s.LongestStreak > n.Streak.Value) {
			n.Streak = &Record{Name: name, Value: s.LongestStreak}
		}
	}
}

// HasMedals is true if the first three get medals: at least three have played.
func (n SeasonTable) HasMedals() bool { return len(n.Rows) >= ranking.MinPlaces }

// SeasonStore reads seasons.
type SeasonStore interface {
	// Season returns a season of a ladder: the one that goes on for number 0, the one before for LastSeason. The Number is 0 if the ladder has
	// no such season.
	Season(ctx context.Context, ladder ranking.LadderID, number int) (SeasonTable, error)
	// SeasonEnd returns a season with the names of its players.
	SeasonEnd(ctx context.Context, id ranking.SeasonID) (SeasonTable, map[ranking.PlayerID]ranking.Name, error)
}

// LastSeason is the number of the season that was the last to end.
const LastSeason = -1

// SeasonQuery asks for a season of the ladder.
type SeasonQuery struct {
	Number int // as in SeasonStore
}

func (q SeasonQuery) inquiry(s *Service, o ranking.Origin) ranking.Inquiry {
	return ranking.Ask(func(ctx context.Context, l ranking.Ladder) (notice.Notice, error) {
		n, err := s.store.Season(ctx, l.ID, q.Number)
		if err != nil {
			return nil, fmt.Errorf("read a season: %w", err)
		}
		switch {
		case n.Number == 0 && q.Number == 0: // the group is new
			return SeasonTable{Title: o.Chat.Title, Number: 1}, nil
		case n.Number == 0:
			return ranking.Refusal{Code: ranking.NoSuchSeason, Number: max(0, q.Number)}, nil
		}
		return n, nil
	})
}

// SeasonEnd returns how a season ended, with the names of its players. object is what identifies the message that tells it.
func (s *Service) SeasonEnd(ctx context.Context, object string) (SeasonEnd, map[ranking.PlayerID]ranking.Name, error) {
	n, names, err := s.store.SeasonEnd(ctx, ranking.SeasonOfObject(object))
	if err != nil {
		return SeasonEnd{}, nil, fmt.Errorf("read how a season ended: %w", err)
	}
	return SeasonEnd{SeasonTable: n}, names, nil
}
