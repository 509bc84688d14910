package stats

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/notice"
	"elobot/internal/ranking"
)

// Records are the records of a ladder, for one month or for all time. A record without a holder is
// nil.
type Records struct {
	Title string    `json:"title"`          // of the group
	Month time.Time `json:"month,omitzero"` // its first instant, zero for all time
	// the most wins in a row, and the match that completed them
	Streak *Record `json:"streak,omitempty"`
	// the highest rating, and the first match that led to it
	Rating *Record `json:"rating,omitempty"`
	// the victory with the largest rating difference, at least ladder.MinUpset
	Upset  *UpsetBy `json:"upset,omitempty"`
	Played *Record  `json:"played,omitempty"` // the most matches; its In is nil
	// the rivals with the most matches against each other; for all time, only matches of the last
	// year count
	Rivalry *RivalryOf `json:"rivalry,omitempty"`
}

var _ = notice.Register[Records](notice.Kind{Name: "records", Purpose: notice.Answer, Alone: true})

// Record is a record of a player. In is the match in which the player reached it, nil for none.
type Record struct {
	Name  ranking.Name `json:"name"`
	Value int          `json:"value"`
	In    *MatchRef    `json:"in,omitempty"`
}

// UpsetBy is an upset and its winner.
type UpsetBy struct {
	Name ranking.Name `json:"name"`
	Upset
}

// MinStreak is the minimum number of wins in a row for a record.
const MinStreak = 2

// RivalPercent is the minimum percentage of their matches against each other that each of two
// rivals has won.
const RivalPercent = 40

// RivalryOf is a pair of players with at least MinMatches matches against each other, of which each
// of the two has won at least RivalPercent.
type RivalryOf struct {
	Name ranking.Name `json:"name"` // the player from whose point of view the matches are counted
	Pairing
}

// RecordsCommand is /records, as in "/records" and "/records month".
type RecordsCommand struct{ ofNobody }

func (RecordsCommand) meant(said command.Command, _ ranking.Asked) (Question, notice.Notice) {
	q := command.ParseQuestion(said)
	if q != (command.Question{Span: q.Span}) || q.Span != "" && q.Span != command.All && q.Span != command.Month {
		return nil, ranking.Unexpected(said, said.FirstWord())
	}
	return RecordsQuestion{Span: q.Span}, nil
}

// RecordsQuestion asks for the records of all time, or of the current month.
type RecordsQuestion struct {
	ofNobody
	Span command.Span
}

func (q RecordsQuestion) answer(ctx context.Context, s *Service, a ranking.Asked) (notice.Notice, error) {
	month, _ := timesOf(q.Span, now(a))
	n, err := s.records(ctx, a.Ladder.ID, month, a.Origin.SentAt)
	n.Title = a.Origin.Chat.Title
	return n, err
}

// records reads the records of the month that begins at month, or of all time if month is zero.
func (s *Service) records(ctx context.Context, in ladder.ID, month, now time.Time) (Records, error) {
	if month.IsZero() {
		n, err := s.store.Records(ctx, in, now.AddDate(-1, 0, 0))
		if err != nil {
			return n, fmt.Errorf("read the records of all time: %w", err)
		}
		return n, nil
	}
	matches, err := s.store.MatchesOf(ctx, in, month, ranking.LaterMonth(month, 1))
	if err != nil {
		return Records{}, fmt.Errorf("read the matches of a month: %w", err)
	}
	n := RecordsOf(matches)
	n.Month = month
	return n, nil
}

// RecordsOf returns the records of matches, which must be complete and ordered by number. The first
// player to reach the highest rating, the longest streak or the largest upset holds the record. If
// several players reach it in the same match, the player with the smallest id holds it. Ties for
// the most matches and for the rivalry go to the smallest ids.
func RecordsOf(matches []ladder.Match) (n Records) {
	all := ladder.SummariesOf(matches)
	for _, player := range slices.Sorted(maps.Keys(all)) {
		s, name := all[player], ranking.Name{Player: player}
		n.Rating = higher(n.Rating, s.Best, name)
		if s.Streak.Value >= MinStreak {
			n.Streak = higher(n.Streak, s.Streak, name)
		}
		if n.Played == nil || s.Played > n.Played.Value {
			n.Played = &Record{Name: name, Value: s.Played}
		}
		if u := upsetOf(s.Upset, player); u != nil && (n.Upset == nil || precedes(s.Upset, n.Upset.By, n.Upset.Number)) {
			n.Upset = &UpsetBy{Name: name, Upset: *u}
		}
		for _, other := range slices.Sorted(maps.Keys(s.Opponents)) {
			if t := s.Opponents[other]; player < other && areRivals(t) && (n.Rivalry == nil || t.Played > n.Rivalry.Played) {
				n.Rivalry = &RivalryOf{Name: name, Pairing: pairingOf(other, t)}
			}
		}
	}
	return n
}

// higher returns the better of a record and a player's peak: the higher, or the earlier if they are
// equal.
func higher(r *Record, p ladder.Peak, name ranking.Name) *Record {
	if p.In == nil || r != nil && !precedes(p, r.Value, r.In.Number) {
		return r
	}
	return &Record{Name: name, Value: p.Value, In: new(refOf(p.In))}
}

// precedes reports whether a peak exceeds a value, or equals it in a match before the given number.
func precedes(p ladder.Peak, value, number int) bool {
	return p.Value > value || p.Value == value && p.In.Number < number
}

// areRivals reports whether two opponents are rivals, as RivalryOf defines them.
func areRivals(t *ladder.Tally) bool {
	return t.Played >= MinMatches && 100*min(t.Won, t.Lost) >= RivalPercent*t.Played
}
