// Package stats answers questions about ratings. It only reads: the ranking service commits the answer together with the question's
// idempotency key.
package stats

import (
	"context"
	"time"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/ranking"
)

// MaxGroups is the maximum number of groups in the answer to /me.
const MaxGroups = 20

// Store reads the answers. An unknown ladder has an empty ranking, and an unknown person has no standing.
type Store interface {
	// Ranking returns a part of a ladder's ranking as it is now, with those who have not paused for so long that the ladder's rules leave
	// them out, and the asker's own row if it is not there. Of a ranking that has no such page any more, it returns the last one. asker may
	// be nil. now is in the time zone of the chat, in which the day begins with whose places those of now are compared.
	Ranking(ctx context.Context, in ladder.ID, asker *command.Person, q RankingQuery, now time.Time) (RankingPage, error)
	// Board returns the first players of a ladder's ranking, and whether the ladder has a board with that object. now is as for Ranking.
	Board(ctx context.Context, in ladder.ID, object string, now time.Time) (Board, error)
	// Player returns a player's standing and history in a ladder, with the place in the ranking as it is now.
	Player(ctx context.Context, in ladder.ID, player ladder.PlayerID, now time.Time) (PlayerHistory, error)
	// HeadToHead returns two players with their ratings, and the matches in which they were opponents, in the order of their numbers.
	HeadToHead(ctx context.Context, in ladder.ID, a, b ladder.PlayerID) (HeadToHead, []ladder.Match, error)
	// MatchesOf returns the matches of a ladder of a time in the order of their numbers. until is not part of it.
	MatchesOf(ctx context.Context, in ladder.ID, since, until time.Time) ([]ladder.Match, error)
	// Records returns the records of a ladder of all time, with the rivalry since then.
	Records(ctx context.Context, in ladder.ID, since time.Time) (Records, error)
	// Standings returns a person's standings in up to limit ladders, with the places as they are now. Those in which they played most come
	// first.
	Standings(ctx context.Context, who command.Person, limit int, now time.Time) (MyStandings, error)
	MatchStore
	WebStore
	ChartStore
	SeasonStore
}

// Answerer commits the answer to a question, as ranking.Service does.
type Answerer interface {
	Do(ctx context.Context, o ranking.Origin, op ranking.Operation) error
}

// Service answers questions.
type Service struct {
	store    Store
	answerer Answerer
}

// NewService returns a service that reads from the store.
func NewService(store Store, answerer Answerer) *Service { return &Service{store, answerer} }

// Query is what is asked for.
type Query interface {
	// inquiry returns the question: who it is about, and how its answer is read.
	inquiry(s *Service, o ranking.Origin) ranking.Inquiry
}

// Show answers a question: that of a message with a message, and that of a pressed button in the message with the button.
func (s *Service) Show(ctx context.Context, o ranking.Origin, q Query) error {
	return s.answerer.Do(ctx, o, q.inquiry(s, o))
}
