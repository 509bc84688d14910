// Package stats answers questions about ratings. It only reads: the ranking service commits the answer together with the
// question's idempotency key.
package stats

import (
	"context"
	"fmt"

	"elobot/internal/ranking"
)

const (
	// PageRows is the maximum number of rows in a RankingPage.
	PageRows = 10
	// MaxPlaces is the maximum number of first places that ShowTop shows: as many as fit into a message, whatever the names are.
	MaxPlaces = 20
	// MaxGroups is the maximum number of groups in the answer to /me.
	MaxGroups = 20
)

// Store reads the answers. An unknown chat has an empty ranking, and an unknown person has no standing.
type Store interface {
	// Ranking returns a page of a group's ranking, and the asker's own row if it is not on it. Of a ranking that has no
	// such page any more, it returns the last one. asker may be nil.
	Ranking(ctx context.Context, chat ranking.ExternalChatID, asker *ranking.Person, page int) (RankingPage, error)
	// Top returns the first places of a group's ranking instead of a page.
	Top(ctx context.Context, chat ranking.ExternalChatID, asker *ranking.Person, places int) (RankingPage, error)
	// Standing returns a person's standing in a group.
	Standing(ctx context.Context, chat ranking.ExternalChatID, who ranking.Person) (MyStanding, error)
	// PlayerStanding returns a player's standing in a group.
	PlayerStanding(ctx context.Context, chat ranking.ExternalChatID, player ranking.PlayerID) (MyStanding, error)
	// Standings returns a person's standings in up to limit groups. Groups in which they played most come first.
	Standings(ctx context.Context, who ranking.Person, limit int) (MyStandings, error)
}

// Answerer commits the answer to a question, as ranking.Service does.
type Answerer interface {
	Ask(ctx context.Context, o ranking.Origin, read func(context.Context) (ranking.Notice, error)) error
	AskAbout(ctx context.Context, o ranking.Origin, who ranking.Person, read func(context.Context, ranking.Player) (ranking.Notice, error)) error
	TurnPage(ctx context.Context, o ranking.Origin, message int64, read func(context.Context) (ranking.Notice, error)) error
	Answer(ctx context.Context, o ranking.Origin, n ranking.Notice) error
}

// Service answers questions.
type Service struct {
	store    Store
	answerer Answerer
}

// NewService returns a service that reads from the store.
func NewService(store Store, answerer Answerer) *Service { return &Service{store, answerer} }

// ShowRanking answers with a page of the group's ranking, or the last page if there are fewer.
func (s *Service) ShowRanking(ctx context.Context, o ranking.Origin, page int) error {
	return s.answerer.Ask(ctx, o, s.readPage(o.Chat.ID, o.Sender, page))
}

// ShowTop answers with the first places of the group's ranking, at most MaxPlaces.
func (s *Service) ShowTop(ctx context.Context, o ranking.Origin, places int) error {
	return s.answerer.Ask(ctx, o, func(ctx context.Context) (ranking.Notice, error) {
		n, err := s.store.Top(ctx, o.Chat.ID, o.Sender, min(places, MaxPlaces))
		if err != nil {
			return nil, fmt.Errorf("read first places: %w", err)
		}
		return n, nil
	})
}

// ShowPlayer answers with the standing of a person in the group, who may be the sender.
func (s *Service) ShowPlayer(ctx context.Context, o ranking.Origin, who ranking.Person) error {
	return s.answerer.AskAbout(ctx, o, who, func(ctx context.Context, p ranking.Player) (ranking.Notice, error) {
		n, err := s.store.PlayerStanding(ctx, o.Chat.ID, p.ID)
		if err != nil {
			return nil, fmt.Errorf("read the standing of a player: %w", err)
		}
		if o.Sender == nil || p.UserID != o.Sender.ID {
			n.Other, n.Name = true, ranking.Name{Player: p.ID}
		}
		return n, nil
	})
}

// TurnRanking shows another page of the ranking in the message with the pressed button. asker is who asked for the ranking,
// 0 for an anonymous admin; anybody may press the button.
func (s *Service) TurnRanking(ctx context.Context, o ranking.Origin, message int64, asker ranking.UserID, page int) error {
	var person *ranking.Person
	if asker != 0 {
		person = &ranking.Person{ID: asker}
	}
	return s.answerer.TurnPage(ctx, o, message, s.readPage(o.Chat.ID, person, page))
}

// readPage returns a function that reads a page of the ranking. asker may be nil.
func (s *Service) readPage(chat ranking.ExternalChatID, asker *ranking.Person, page int) func(context.Context) (ranking.Notice, error) {
	return func(ctx context.Context) (ranking.Notice, error) {
		n, err := s.store.Ranking(ctx, chat, asker, page)
		if err != nil {
			return nil, fmt.Errorf("read ranking: %w", err)
		}
		if asker != nil {
			n.Asker = asker.ID
		}
		return n, nil
	}
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
