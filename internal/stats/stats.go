// Package stats answers questions about ratings. It only reads. The ranking service commits an
// answer together with the idempotency key of the question.
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

// MaxGroups is the maximum number of ladders in the answer to /stats in a private chat.
const MaxGroups = 20

// Store reads answers. An unknown ladder has an empty ranking and no matches, and an unknown person
// has no standing.
type Store interface {
	// Ranking returns a part of a ladder's current ranking, and the asker's own row if it is not in
	// that part. Players whom the ladder's rules hide are left out unless q.All is set. If q.Page
	// is too high, Ranking returns the last page. asker may be nil. now is in the chat's time zone,
	// which determines the day whose places are compared with the current places.
	Ranking(
		ctx context.Context, in ladder.ID, asker *command.Person, q RankingQuestion, now time.Time,
	) (RankingPage, error)
	// Board returns the first players of a ladder's ranking, and whether the ladder has a board
	// with that object. now is as for Ranking.
	Board(ctx context.Context, in ladder.ID, object string, now time.Time) (Board, error)
	// Player returns a player's standing and history in the current season of a ladder, with the
	// place in the ranking at now.
	Player(ctx context.Context, in ladder.ID, player ladder.PlayerID, now time.Time) (PlayerHistory, error)
	// PlayerCard returns what the group of a ladder knows of a player or, if that player counts as
	// another one, of the other player. It has no Names if the group does not know the player.
	PlayerCard(ctx context.Context, in ladder.ID, player ladder.PlayerID) (PlayerCard, error)
	// HeadToHead returns two players with their ratings, and all matches that count in which they
	// were opponents, in any season, ordered by position.
	HeadToHead(ctx context.Context, in ladder.ID, a, b ladder.PlayerID) (HeadToHead, []ladder.Match, error)
	// MatchesOf returns the matches of a ladder that count, from since until just before until,
	// ordered by position.
	MatchesOf(ctx context.Context, in ladder.ID, since, until time.Time) ([]ladder.Match, error)
	// Records returns the all-time records of a ladder, with the rivalry since the given time.
	Records(ctx context.Context, in ladder.ID, since time.Time) (Records, error)
	// Standings returns a person's standings in up to limit ladders, with the places at now.
	// Ladders in whose current season the person has played the most come first.
	Standings(ctx context.Context, who command.Person, limit int, now time.Time) (MyStandings, error)
	// Matches returns a page of a player's matches in a ladder, or of all its matches for player 0.
	// A page that does not exist, such as the one before the first, is the first page. The id of a
	// merged player stands for the player who remains.
	Matches(ctx context.Context, in ladder.ID, player ladder.PlayerID, at Paging) (HistoryPage, error)
	// HavePlayed reports for each of the players whether the player has played in any season of a
	// ladder.
	HavePlayed(ctx context.Context, in ladder.ID, players []ladder.PlayerID) ([]bool, error)
	// Ratings returns the ratings of players after the matches since the given time, or after all
	// matches if the time is zero, and the ratings of all other players. It covers at most the last
	// ChartedMatches matches.
	Ratings(ctx context.Context, in ladder.ID, players []ladder.PlayerID, since time.Time) (Ratings, error)
	// Season returns a season of a ladder. Number 0 means the current season, and LastSeason the
	// previous one. A number that no season has, such as a year, means the last season with that
	// name. If no season matches, Number is 0 in the result.
	Season(ctx context.Context, in ladder.ID, number int) (SeasonTable, error)
	// SeasonEnd returns a season and its ladder.
	SeasonEnd(ctx context.Context, id ladder.SeasonID) (SeasonEnd, ladder.ID, error)
	// SeasonResults returns the standings of players in all seasons of a ladder in which they have
	// played, ordered by season and rating.
	SeasonResults(ctx context.Context, in ladder.ID) ([]SeasonResult, error)
	// WebGroup returns a group that has a web board, nil for any other group.
	WebGroup(ctx context.Context, group ranking.GroupID) (*WebGroup, error)
	// IsOffWeb reports whether web boards leave out the name of the account with this id.
	IsOffWeb(ctx context.Context, user ladder.UserID) (bool, error)
	// Names returns the names, in the group of a ladder, of the players whose ids an answer
	// contains.
	Names(ctx context.Context, in ladder.ID, answer any) (map[ladder.PlayerID]ranking.Name, error)
	// LatestMatches reads the last matches of a ladder, up to the number most. It returns those
	// that count and belong to the current season, ordered by position.
	LatestMatches(ctx context.Context, in ladder.ID, most int) ([]ladder.Match, error)
}

// Service answers questions. It implements ranking.Answerer.
type Service struct{ store Store }

// NewService returns a service that reads from the store.
func NewService(store Store) *Service { return &Service{store} }

var _ ranking.Answerer = (*Service)(nil)

// Question is a ranking.Question that this package answers.
type Question interface {
	ranking.Question
	// answer returns the answer to the question.
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

// ofNobody is a question that is not about people named by its command. Other questions embed it.
type ofNobody struct{}

// IsAbout implements ranking.Question.
func (ofNobody) IsAbout(command.Command) bool { return false }

// ofPeople is a question about people whom its command may name. Other questions embed it.
type ofPeople struct{}

// IsAbout implements ranking.Question.
func (ofPeople) IsAbout(command.Command) bool { return true }

// Typed is a typed question. What it asks depends on the words of the command, and on the members
// of the group.
type Typed struct{ Form }

// Form parses the typed questions of a command. Each command has its own.
type Form interface {
	ranking.Question
	// meant returns the question that a command asks, or a notice that explains why the question is
	// not clear.
	meant(said command.Command, a ranking.Asked) (Question, notice.Notice)
}

// Meant returns the question that the command asks, or a notice that explains why the question is
// not clear.
func (t Typed) Meant(a ranking.Asked) (Question, notice.Notice) { return t.meant(a.Origin.Said, a) }

func (t Typed) answer(ctx context.Context, s *Service, a ranking.Asked) (notice.Notice, error) {
	q, unclear := t.Meant(a)
	if unclear != nil {
		return unclear, nil
	}
	return q.answer(ctx, s, a)
}
