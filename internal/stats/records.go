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
	Title string    `json:"title"`          // the group's title
	Month time.Time `json:"month,omitzero"` // the first instant of the month, zero for all time
	// Streak is the most wins in a row, with the match that completed them.
	Streak *Record `json:"streak,omitempty"`
	// Rating is the highest rating, with the first match that led to it.
	Rating *Record `json:"rating,omitempty"`
	// Upset is the victory with the largest rating difference, at least ladder.MinUpset.
	Upset  *UpsetBy `json:"upset,omitempty"`
	Played *Record  `json:"played,omitempty"` // the most matches; its In is nil
	// Rivalry has the rivals with the most matches against each other. For all time, only matches
	// of the last year count.
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

// RivalPercent is the minimum percentage of wins that each of two rivals needs in their matches
// against each other.
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

// records reads the records of the month that begins at month, or of all time if month is zero. The
// rivalry of all time covers only the year before now.
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

// RecordsOf returns the records of matches, which must be complete and ordered by position. The
// first player to reach the highest rating, the longest streak or the largest upset holds the
// record. If several players reach it in the same match, the player with the smallest id holds it.
// Ties for the most matches and for the rivalry go to the smallest ids.
func RecordsOf(matches []ladder.Match) (n Records) {
	var rating, streak, upset holder
	all := ladder.SummariesOf(matches)
	for _, player := range slices.Sorted(maps.Keys(all)) {
		s := all[player]
		rating.take(s.Best, player)
		upset.take(s.Upset, player)
		if s.Streak.Value >= MinStreak {
			streak.take(s.Streak, player)
		}
		if n.Played == nil || s.Played > n.Played.Value {
			n.Played = &Record{Name: ranking.Name{Player: player}, Value: s.Played}
		}
		for _, other := range slices.Sorted(maps.Keys(s.Opponents)) {
			if t := s.Opponents[other]; player < other && areRivals(t) && (n.Rivalry == nil || t.Played > n.Rivalry.Played) {
				n.Rivalry = &RivalryOf{Name: ranking.Name{Player: player}, Pairing: pairingOf(other, t)}
			}
		}
	}
	n.Rating, n.Streak = rating.record(), streak.record()
	if u := upsetOf(upset.Peak, upset.player); u != nil {
		n.Upset = &UpsetBy{Name: ranking.Name{Player: upset.player}, Upset: *u}
	}
	return n
}

// holder is the player with the highest peak so far. In is nil if no player has one.
type holder struct {
	ladder.Peak
	player ladder.PlayerID
}

// take makes a player the holder if the player's peak p is higher than the holder's, or if it is
// equal and was reached in an earlier match.
func (h *holder) take(p ladder.Peak, player ladder.PlayerID) {
	if p.In != nil && (h.In == nil || p.Value > h.Value || p.Value == h.Value && p.In.Position < h.In.Position) {
		*h = holder{p, player}
	}
}

func (h holder) record() *Record {
	if h.In == nil {
		return nil
	}
	return &Record{Name: ranking.Name{Player: h.player}, Value: h.Value, In: new(refOf(h.In))}
}

// areRivals reports whether two opponents are rivals, as RivalryOf defines them.
func areRivals(t *ladder.Tally) bool {
	return t.Played >= MinMatches && 100*min(t.Won, t.Lost) >= RivalPercent*t.Played
}
