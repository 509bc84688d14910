package stats

import (
	"context"
	"fmt"
	"time"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/notice"
	"elobot/internal/ranking"
)

// MatchPage shows a page of a group's matches, the newest first.
type MatchPage struct {
	Title string     `json:"title"` // of the group
	Rows  []MatchRow `json:"rows"`  // at most PageRows
	Newer bool       `json:"newer,omitempty"`
	Older bool       `json:"older,omitempty"` // there are older matches than those on the page
	Since time.Time  `json:"since,omitzero"`  // the instant from which on matches are meant, zero for all
}

var _ = notice.Register[MatchPage](notice.Kind{Name: "match_page", Purpose: notice.Answer, Alone: true})

// HistoryPage shows a page of a player's matches in a group, the newest first.
type HistoryPage struct {
	Name  ranking.Name `json:"name,omitzero"` // zero for a sender without a standing
	Rows  []MatchRow   `json:"rows"`          // at most PageRows
	Newer bool         `json:"newer,omitempty"`
	Older bool         `json:"older,omitempty"`
}

var _ = notice.Register[HistoryPage](notice.Kind{Name: "history_page", Purpose: notice.Answer, Alone: true})

// MatchRow is a match on a page.
type MatchRow struct {
	Match  ladder.MatchID    `json:"match"`
	Number int               `json:"number"`
	Played time.Time         `json:"played"`
	Sides  [2][]ranking.Name `json:"sides"` // as on its card
	Score  [2]int            `json:"score"`
	Was    *[2]int           `json:"was,omitempty"`    // the score before the last fix; the same as Score if only sets changed
	Undone bool              `json:"undone,omitempty"` // it does not count
	// Change is by how much it changed the rating of the player whose history it is, nil if it does not count.
	Change *int `json:"change,omitempty"`
}

// Paging says which page of matches is meant. The zero Paging means the first one, with the newest matches.
type Paging struct {
	// Key is a match of another page: its number in the matches of a group, and its MatchID in those of a player.
	Key int64
	// Newer is true for the page with the matches before it, and false for that with the matches after it.
	Newer bool
	// Page is the number of the page, from 1, if there is no Key.
	Page int
	// Since is the instant from which on matches are meant, zero for all, and Until that before
	// which, if Since is not zero.
	Since, Until time.Time
}

// MatchStore reads pages of matches. The page before the first one, and one that does not exist, is the first one. An unknown ladder has
// no matches.
type MatchStore interface {
	// Matches returns a page of a player's matches in a ladder, or of all its matches for player 0. A player who was merged into another one
	// is the other one.
	Matches(ctx context.Context, in ladder.ID, player ladder.PlayerID, at Paging) (HistoryPage, error)
}

// MatchesQuery asks for a page of a player's matches, or of those of the group if Player is 0.
type MatchesQuery struct {
	Player ladder.PlayerID
	At     Paging
	Span   command.Span // in which they were played, as in GainQuery; empty for any
}

func (q MatchesQuery) inquiry(s *Service, o ranking.Origin) ranking.Inquiry {
	return ranking.Ask(func(ctx context.Context, here ranking.Where) (notice.Notice, error) {
		q.At.Since, q.At.Until = timesOf(q.Span, o.SentAt.In(here.Zone))
		if q.Player == 0 {
			return s.matchPage(ctx, o, here.Ladder, q.At)
		}
		return s.history(ctx, here.ID, q.Player, q.At)
	})
}

func (s *Service) matchPage(ctx context.Context, o ranking.Origin, l ranking.Ladder, at Paging) (MatchPage, error) {
	n, err := s.history(ctx, l.ID, 0, at)
	return MatchPage{Title: o.Chat.Title, Rows: n.Rows, Newer: n.Newer, Older: n.Older, Since: at.Since}, err
}

// history reads a page of a player's matches, or of all matches for player 0.
func (s *Service) history(ctx context.Context, in ladder.ID, player ladder.PlayerID, at Paging) (HistoryPage, error) {
	n, err := s.store.Matches(ctx, in, player, at)
	if err != nil {
		return HistoryPage{}, fmt.Errorf("read matches: %w", err)
	}
	return n, nil
}

// HistoryQuery asks for a page of the matches of a person in the group, who may be the sender: for those of the whole group, if nobody is
// meant.
type HistoryQuery struct {
	Who ranking.Meant
	At  Paging
}

func (q HistoryQuery) inquiry(s *Service, o ranking.Origin) ranking.Inquiry {
	return ranking.AskAbout(q.Who, func(ctx context.Context, l ranking.Ladder, players []ranking.Player) (notice.Notice, error) {
		if len(players) == 0 {
			return s.matchPage(ctx, o, l, q.At)
		}
		p := players[0]
		if p.ID == 0 { // the sender, who has played nowhere yet
			return HistoryPage{}, nil
		}
		n, err := s.history(ctx, l.ID, p.ID, q.At)
		if o.Sender == nil || p.UserID != o.Sender.ID {
			n.Name = ranking.Name{Player: p.ID} // also of somebody who plays in other groups only
		}
		return n, err
	})
}
