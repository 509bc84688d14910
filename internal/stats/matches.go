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

// MatchPage shows a page of a ladder's matches, the newest first.
type MatchPage struct {
	Title string     `json:"title"` // the group's title
	Rows  []MatchRow `json:"rows"`  // at most PageRows
	Newer bool       `json:"newer,omitempty"`
	Older bool       `json:"older,omitempty"` // there are matches older than those on the page
	Since time.Time  `json:"since,omitzero"`  // matches before Since are left out; zero for no limit
}

var _ = notice.Register[MatchPage](notice.Kind{Name: "match_page", Purpose: notice.Answer, Alone: true})

// HistoryPage shows a page of a player's matches in a ladder, the newest first.
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
	Sides  [2][]ranking.Name `json:"sides"` // in the order of the match's card
	// StandIns is as in ranking.NamedResult.
	StandIns [2]int `json:"stand_ins,omitzero"`
	Score    [2]int `json:"score"`
	// Was is the score before the last fix of the score, nil if there is none. It equals Score if
	// only the sets changed.
	Was    *[2]int `json:"was,omitempty"`
	Undone bool    `json:"undone,omitempty"` // the match does not count
	// Change is the rating change of the player whose history is shown. It is nil if the match does
	// not count, and on a page of a ladder's matches.
	Change *int `json:"change,omitempty"`
}

// Paging selects a page of matches. The zero Paging is the first page, with the newest matches.
type Paging struct {
	// Key identifies the match next to the page, 0 for none. It is the match's number on a page of
	// a ladder's matches, and its MatchID on a page of a player's matches.
	Key int64
	// Newer selects the matches newer than Key rather than the older ones.
	Newer bool
	// Page is the number of the page, from 1, if there is no Key.
	Page int
	// Since and Until limit the page to matches played at Since or later, and before Until. If
	// Since is zero, Until is ignored.
	Since, Until time.Time
}

// MatchesCommand is /matches, as in "/matches", "/matches 2", "/matches today", and "/matches
// @bob". The last of these is like "/history @bob". Match is the answer to a result that is
// reported with /matches.
type MatchesCommand struct{ Match notice.Notice }

// isOfGroup returns the question of a /matches command that asks for the matches of all players.
// For any other /matches command, ok is false.
func (MatchesCommand) isOfGroup(said command.Command) (q MatchesQuestion, ok bool) {
	asked := command.ParseQuestion(said)
	ok = asked == (command.Question{Number: asked.Number, Span: asked.Span}) && asked.Span != command.Year
	return MatchesQuestion{At: Paging{Page: asked.Number}, Span: asked.Span}, ok
}

// IsAbout implements ranking.Question.
func (m MatchesCommand) IsAbout(said command.Command) bool {
	_, ok := m.isOfGroup(said)
	return !ok
}

func (m MatchesCommand) meant(said command.Command, a ranking.Asked) (Question, notice.Notice) {
	if q, ok := m.isOfGroup(said); ok {
		return q, nil
	}
	if _, err := command.ParseMatchOf(said, a.EverybodyThere()); err == nil {
		return nil, m.Match
	}
	who, unclear := meantPeople(said, a, 1, nil)
	return HistoryQuestion{Who: who}, unclear
}

// MatchesQuestion asks for a page of a player's matches, or of the ladder's matches if Player is 0.
type MatchesQuestion struct {
	ofNobody
	Player ladder.PlayerID
	At     Paging
	Span   command.Span // when the matches were played, as in a GainQuestion; empty for any time
}

func (q MatchesQuestion) answer(ctx context.Context, s *Service, a ranking.Asked) (notice.Notice, error) {
	q.At.Since, q.At.Until = timesOf(q.Span, now(a))
	if q.Player == 0 {
		return s.matchPage(ctx, a, q.At)
	}
	return s.history(ctx, a.Ladder.ID, q.Player, q.At)
}

func (s *Service) matchPage(ctx context.Context, a ranking.Asked, at Paging) (MatchPage, error) {
	n, err := s.history(ctx, a.Ladder.ID, 0, at)
	return MatchPage{Title: a.Origin.Chat.Title, Rows: n.Rows, Newer: n.Newer, Older: n.Older, Since: at.Since}, err
}

// history reads a page of a player's matches, or of all matches for player 0.
func (s *Service) history(ctx context.Context, in ladder.ID, player ladder.PlayerID, at Paging) (HistoryPage, error) {
	n, err := s.store.Matches(ctx, in, player, at)
	if err != nil {
		return HistoryPage{}, fmt.Errorf("read matches: %w", err)
	}
	return n, nil
}

// HistoryCommand is /history, as in "/history", "/history 2" and "/history @bob". An anonymous
// admin has no history, and gets the ladder's matches if no player is named.
type HistoryCommand struct{ ofPeople }

func (HistoryCommand) meant(said command.Command, a ranking.Asked) (Question, notice.Notice) {
	var at Paging
	if q := command.ParseQuestion(said); q == (command.Question{Number: q.Number}) {
		at.Page, said.Args = q.Number, ""
	}
	who, unclear := meantPeople(said, a, 1, a.Origin.Sender)
	return HistoryQuestion{Who: who, At: at}, unclear
}

// HistoryQuestion asks for a page of the matches that the person in Who, who may be the sender, has
// played in the ladder. If Who is empty, it asks for a page of all the ladder's matches.
type HistoryQuestion struct {
	ofPeople
	Who []command.Person // at most one
	At  Paging
}

func (q HistoryQuestion) answer(ctx context.Context, s *Service, a ranking.Asked) (notice.Notice, error) {
	players, refusal := playersOf(a, q.Who)
	switch {
	case refusal != nil:
		return refusal, nil
	case len(players) == 0:
		return s.matchPage(ctx, a, q.At)
	case players[0].ID == 0: // the sender, who is not a player
		return HistoryPage{}, nil
	}
	n, err := s.history(ctx, a.Ladder.ID, players[0].ID, q.At)
	if players[0].ID != senderPlayer(a) {
		// The store returns no name for a player without a standing in the ladder.
		n.Name = ranking.Name{Player: players[0].ID}
	}
	return n, err
}
