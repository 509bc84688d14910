// Package stats answers questions about ratings. It reads and changes nothing: that a question has been answered is
// committed by the ranking service, together with the answer.
package stats

import (
	"context"
	"fmt"

	"elobot/internal/ranking"
)

const (
	// TopRows is how many rows a page of the ranking has.
	TopRows = 20
	// MaxGroups is how many groups the answer to /me names.
	MaxGroups = 20
)

// Store is what questions read. An unknown chat has an empty ranking, and an unknown person has no standing.
type Store interface {
	// Ranking returns the first rows of a group's ranking, and the asker's own row if it is not among them. The asker may
	// be nil.
	Ranking(ctx context.Context, chat ranking.ExternalChatID, asker *ranking.Person, rows int) (RankingPage, error)
	// Standing returns where somebody stands in a group.
	Standing(ctx context.Context, chat ranking.ExternalChatID, who ranking.Person) (MyStanding, error)
	// Standings returns where somebody stands in all groups, those with the most matches first.
	Standings(ctx context.Context, who ranking.Person, limit int) (MyStandings, error)
}

// Answerer commits the answer to a question, as ranking.Service does.
type Answerer interface {
	Ask(ctx context.Context, o ranking.Origin, read func(context.Context) (ranking.Notice, error)) error
	Answer(ctx context.Context, o ranking.Origin, n ranking.Notice) error
}

// Service answers questions.
type Service struct {
	store    Store
	answerer Answerer
}

// NewService returns a service that reads from the store.
func NewService(store Store, answerer Answerer) *Service { return &Service{store, answerer} }

// ShowRanking answers with the beginning of the group's ranking.
func (s *Service) ShowRanking(ctx context.Context, o ranking.Origin) error {
	return s.answerer.Ask(ctx, o, func(ctx context.Context) (ranking.Notice, error) {
		page, err := s.store.Ranking(ctx, o.Chat.ID, o.Sender, TopRows)
		if err != nil {
			return nil, fmt.Errorf("read ranking: %w", err)
		}
		return page, nil
	})
}

// ShowMe answers where the sender stands: in the group's ranking, or in a private chat in those of all their groups.
func (s *Service) ShowMe(ctx context.Context, o ranking.Origin) error {
	if o.Sender == nil {
		return s.answerer.Answer(ctx, o, ranking.Refusal{Code: ranking.NobodyToShow})
	}
	return s.answerer.Ask(ctx, o, func(ctx context.Context) (n ranking.Notice, err error) {
		if o.Chat.IsGroup() {
			n, err = s.store.Standing(ctx, o.Chat.ID, *o.Sender)
		} else {
			n, err = s.store.Standings(ctx, *o.Sender, MaxGroups)
		}
		if err != nil {
			return nil, fmt.Errorf("read standing: %w", err)
		}
		return n, nil
	})
}
