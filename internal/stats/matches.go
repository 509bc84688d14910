package stats

import (
	"context"
	"fmt"
	"time"

	"elobot/internal/ranking"
)

// The kinds of the notices in this file.
const (
	KindMatchPage   = "match_page"
	KindHistoryPage = "history_page"
)

// MatchPage shows a page of a group's matches, the newest first.
type MatchPage struct {
	Title string     `json:"title"` // of the group
	Rows  []MatchRow `json:"rows"`  // at most PageRows
	Newer bool       `json:"newer,omitempty"`
	Older bool       `json:"older,omitempty"` // there are older matches than those on the page
}

// HistoryPage shows a page of a player's matches in a group, the newest first.
type HistoryPage struct {
	Name  ranking.Name `json:"name,omitzero"` // zero for a sender without a standing
	Rows  []MatchRow   `json:"rows"`          // at most PageRows
	Newer bool         `json:"newer,omitempty"`
	Older bool         `json:"older,omitempty"`
}

// MatchRow is a match on a page.
type MatchRow struct {
	Match  ranking.MatchID   `json:"match"`
	Number int               `json:"number"`
	Played time.Time         `json:"played"`
	Sides  [2][]ranking.Name `json:"sides"` // as on its card
	Score  [2]int            `json:"score"`
	Was    *[2]int           `json:"was,omitempty"`    // the score before the last fix; the same as Score if only sets changed
	Undone bool              `json:"undone,omitempty"` // it does not count
	// Change is by how much it changed the rating of the player whose history it is, nil if it does not count.
	Change *int `json:"change,omitempty"`
}

// Kind implements ranking.Notice.
func (MatchPage) Kind() string { return KindMatchPage }

// Purpose implements ranking.Notice.
func (MatchPage) Purpose() ranking.Purpose { return ranking.Answer }

// Alone makes ranking.IsAlone true.
func (MatchPage) Alone() bool { return true }

// Kind implements ranking.Notice.
func (HistoryPage) Kind() string { return KindHistoryPage }

// Purpose implements ranking.Notice.
func (HistoryPage) Purpose() ranking.Purpose { return ranking.Answer }

// Alone makes ranking.IsAlone true.
func (HistoryPage) Alone() bool { return true }

// Paging says which page of matches is meant. The zero Paging means the first one, with the newest matches.
type Paging struct {
	// Key is a match of another page: its number in the matches of a group, and its MatchID in those of a player.
	Key int64
	// Newer is true for the page with the matches before it, and false for that with the matches after it.
	Newer bool
}

// MatchStore reads pages of matches. The page before the first one, and one that does not exist, is the first one. An unknown chat
// has no matches.
type MatchStore interface {
	// Matches returns a page of a group's matches.
	Matches(ctx context.Context, chat ranking.ExternalChatID, at Paging) (MatchPage, error)
	// History returns a page of a player's matches in a group, none for player 0. A player who was merged into another one is the
	// other one.
	History(ctx context.Context, chat ranking.ExternalChatID, player ranking.PlayerID, at Paging) (HistoryPage, error)
}

// ShowMatches answers with the newest matches of the group.
func (s *Service) ShowMatches(ctx context.Context, o ranking.Origin) error {
	return s.answerer.Ask(ctx, o, s.readMatches(o, Paging{}))
}

// TurnMatches shows another page of the group's matches in the message with the pressed button.
func (s *Service) TurnMatches(ctx context.Context, o ranking.Origin, message int64, at Paging) error {
	return s.answerer.TurnPage(ctx, o, message, s.readMatches(o, at))
}

func (s *Service) readMatches(o ranking.Origin, at Paging) func(context.Context) (ranking.Notice, error) {
	return func(ctx context.Context) (ranking.Notice, error) {
		n, err := s.store.Matches(ctx, o.Chat.ID, at)
		if err != nil {
			return nil, fmt.Errorf("read matches: %w", err)
		}
		n.Title = o.Chat.Title
		return n, nil
	}
}

// ShowHistory answers with the newest matches of a person in the group, who may be the sender: with those of the whole group, if nobody is
// meant.
func (s *Service) ShowHistory(ctx context.Context, o ranking.Origin, who ranking.Meant) error {
	return s.answerer.AskAbout(ctx, o, who, func(ctx context.Context, players []ranking.Player) (ranking.Notice, error) {
		if len(players) == 0 {
			return s.readMatches(o, Paging{})(ctx)
		}
		p := players[0]
		n, err := s.store.History(ctx, o.Chat.ID, p.ID, Paging{})
		if err != nil {
			return nil, fmt.Errorf("read the history of a player: %w", err)
		}
		if o.Sender == nil || p.UserID != o.Sender.ID {
			n.Name = ranking.Name{Player: p.ID} // also of somebody who plays in other groups only
		}
		return n, nil
	})
}

// TurnHistory shows a page of a player's matches in the message with the pressed button.
func (s *Service) TurnHistory(ctx context.Context, o ranking.Origin, message int64, player ranking.PlayerID, at Paging) error {
	return s.answerer.TurnPage(ctx, o, message, func(ctx context.Context) (ranking.Notice, error) {
		n, err := s.store.History(ctx, o.Chat.ID, player, at)
		if err != nil {
			return nil, fmt.Errorf("read the history of a player: %w", err)
		}
		return n, nil
	})
}
