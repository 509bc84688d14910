// Package stats answers questions about ratings. It only reads: the ranking service commits the answer together with the question's
// idempotency key.
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

// MaxGroups is the maximum number of groups in the answer to /me.
const MaxGroups = 20

// Store reads the answers. An unknown ladder has an empty ranking and no matches, and an unknown
// person has no standing.
type Store interface {
	// Ranking returns a part of a ladder's ranking as it is now, with those who have not paused for so long that the ladder's rules leave
	// them out, and the asker's own row if it is not there. Of a ranking that has no such page any more, it returns the last one. asker may
	// be nil. now is in the time zone of the chat, in which the day begins with whose places those of now are compared.
	Ranking(ctx context.Context, in ladder.ID, asker *command.Person, q RankingQuestion, now time.Time) (RankingPage, error)
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
	// Matches returns a page of a player's matches in a ladder, or of all its matches for player 0.
	// The page before the first one, and one that does not exist, is the first one. A player who
	// was merged into another one is the other one.
	Matches(ctx context.Context, in ladder.ID, player ladder.PlayerID, at Paging) (HistoryPage, error)
	// HavePlayed reports which of the players have played in a ladder.
	HavePlayed(ctx context.Context, in ladder.ID, players []ladder.PlayerID) ([]bool, error)
	// Ratings returns the ratings of players after the matches since then, and those of all others.
	Ratings(ctx context.Context, in ladder.ID, players []ladder.PlayerID, since time.Time) (Ratings, error)
	// Season returns a season of a ladder: the current one for number 0, the one before for
	// LastSeason, and the last one that is called by a number which none has, such as a year. The
	// Number is 0 if the ladder has no such season.
	Season(ctx context.Context, in ladder.ID, number int) (SeasonTable, error)
	// SeasonEnd returns a season and its ladder.
	SeasonEnd(ctx context.Context, id ladder.SeasonID) (SeasonEnd, ladder.ID, error)
	// SeasonResults returns the standings in all seasons of a ladder of those who have played in
	// them, in the order of the seasons and of the ratings.
	SeasonResults(ctx context.Context, in ladder.ID) ([]SeasonResult, error)
	// WebGroup returns a group that has a web board, nil for all others.
	WebGroup(ctx context.Context, group ranking.GroupID) (*WebGroup, error)
	// Names returns the names of the players that an answer names by their ids, as in the group of
	// a ladder.
	Names(ctx context.Context, in ladder.ID, answer any) (map[ladder.PlayerID]ranking.Name, error)
	// LatestMatches returns those of the last matches of a ladder, at most so many, that count in
	// the current season, in the order of their numbers.
	LatestMatches(ctx context.Context, in ladder.ID, most int) ([]ladder.Match, error)
}

// Service answers questions. It is the ranking.Answerer.
type Service struct{ store Store }

// NewService returns a service that reads from the store.
func NewService(store Store) *Service { return &Service{store} }

var _ ranking.Answerer = (*Service)(nil)

// Question is a ranking.Question that this package answers.
type Question interface {
	ranking.Question
	// answer reads the answer.
	answer(ctx context.Context, s *Service, a ranking.Asked) (notice.Notice, error)
}

// Answer implements ranking.Answerer.
func (s *Service) Answer(ctx context.Context, q ranking.Question, a ranking.Asked) (notice.Notice, error) {
	question, ok := q.(Question)
	if !ok {
		return nil, fmt.Errorf("unknown question %T", q)
	}
	return question.answer(ctx, s, a)
}

// ofNobody is a question that a command does not ask about people whom it names. Others embed it.
type ofNobody struct{}

// IsAbout implements ranking.Question.
func (ofNobody) IsAbout(command.Command) bool { return false }

// ofPeople is a question about people whom a command may name. Others embed it.
type ofPeople struct{}

// IsAbout implements ranking.Question.
func (ofPeople) IsAbout(command.Command) bool { return true }

// Typed is a question as somebody types it: what it asks depends on the words of the command, and
// on who is in the group.
type Typed struct{ Form }

// Form is the form of a typed question, one for each command.
type Form interface {
	ranking.Question
	// meant returns the question that a command asks, or the notice that says why that is not
	// clear.
	meant(said command.Command, a ranking.Asked) (Question, notice.Notice)
}

// Meant returns the question that a command asks, or the notice that says why that is not clear.
func (t Typed) Meant(a ranking.Asked) (Question, notice.Notice) { return t.meant(a.Origin.Said, a) }

func (t Typed) answer(ctx context.Context, s *Service, a ranking.Asked) (notice.Notice, error) {
	q, unclear := t.Meant(a)
	if unclear != nil {
		return unclear, nil
	}
	return q.answer(ctx, s, a)
}
