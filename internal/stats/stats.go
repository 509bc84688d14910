// Package stats answers questions about ratings. It only reads: the ranking service commits the answer together with the
// question's idempotency key.
package stats

import (
	"context"
	"fmt"

	"elobot/internal/ranking"
)

const (
	// TopRows is the maximum number of rows in a RankingPage.
	TopRows = 20
	// MaxGroups is the maximum number of groups in the answer to /me.
	MaxGroups = 20
)

// Store reads the answers. An unknown chat has an empty ranking, and an unknown person has no standing.
type Store interface {
	// Ranking returns the first rows of a group's ranking, and the asker's own row if it is not among them. asker may be
	// nil.
	Ranking(ctx context.Context, chat ranking.ExternalChatID, asker *ranking.Person, rows int) (RankingPage, error)
	// Standing returns a person's standing in a group.
	Standing(ctx context.Context, chat ranking.ExternalChatID, who ranking.Person) (MyStanding, error)
	// Standings returns a person's standings in up to limit groups. Groups in which they played most come first.
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

// ShowRanking answers with the top of the group's ranking.
func (s *Service) ShowRanking(ctx context.Context, o ranking.Origin) error {
	return s.answerer.Ask(ctx, o, func(ctx context.Context) (ranking.Notice, error) {
		page, err := s.store.Ranking(ctx, o.Chat.ID, o.Sender, TopRows)
		if err != nil {
			return nil, fmt.Errorf("read ranking: %w", err)
		}
		return page, nil
	})
}

// ShowMe answers with the sender's standing in the group, or, in a private chat, with their standings in all groups.
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
