package stats

import (
	"context"
	"fmt"
	"time"

	"elobot/internal/ranking"
)

// KindRecords is the kind of Records.
const KindRecords = "records"

// Records are the records of a group, of one month or of all time. A record that nobody holds is nil.
type Records struct {
	Title     string     `json:"title"`              // of the group
	Month     time.Time  `json:"month,omitzero"`     // its first day in UTC, zero for all time
	Streak    *Record    `json:"streak,omitempty"`   // the most wins in a row, and the match that completed them
	Rating    *Record    `json:"rating,omitempty"`   // the highest rating, and the first match that led to it
	Upset     *UpsetBy   `json:"upset,omitempty"`    // the victory over the side whose rating was higher by most
	Played    *Record    `json:"played,omitempty"`   // the most matches; without a match
	Rivalry   *RivalryOf `json:"rivalry,omitempty"`  // the two of most matches among those who are close
	Freshness Freshness  `json:"freshness,omitzero"` // of all
}

// Record is a record of a player.
type Record struct {
	Name  ranking.Name `json:"name"`
	Value int          `json:"value"`
	In    *MatchRef    `json:"in,omitempty"`
}

// UpsetBy is an upset and who won.
type UpsetBy struct {
	Name ranking.Name `json:"name"`
	Upset
}

// RivalryOf is a pair of players of whom the weaker one won 40 % or more of at least MinMatches matches.
type RivalryOf struct {
	Name ranking.Name `json:"name"` // one of the two, from whose view the matches are counted
	Pairing
}

// Kind implements ranking.Notice.
func (Records) Kind() string { return KindRecords }

// Purpose implements ranking.Notice.
func (Records) Purpose() ranking.Purpose { return ranking.Answer }

// Alone makes ranking.IsAlone true.
func (Records) Alone() bool { return true }

// ShowRecords answers with the records of all time.
func (s *Service) ShowRecords(ctx context.Context, o ranking.Origin) error {
	return s.answerer.Ask(ctx, o, s.readRecords(o.Chat.ID, time.Time{}))
}

// TurnRecords shows the records of the current month or of all time in the message with the pressed button.
func (s *Service) TurnRecords(ctx context.Context, o ranking.Origin, message int64, ofMonth bool) error {
	var month time.Time
	if ofMonth {
		month = ranking.MonthOf(o.SentAt)
	}
	return s.answerer.TurnPage(ctx, o, message, s.readRecords(o.Chat.ID, month))
}

func (s *Service) readRecords(chat ranking.ExternalChatID, month time.Time) func(context.Context) (ranking.Notice, error) {
	return func(ctx context.Context) (ranking.Notice, error) {
		n, err := s.store.Records(ctx, chat, month)
		if err != nil {
			return nil, fmt.Errorf("read records: %w", err)
		}
		return n, nil
	}
}
