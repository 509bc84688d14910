package ranking

import (
	"fmt"
	"time"

	"elobot/internal/elo"
)

// Standing is a player's place in a ladder. Ratings are between elo.Min and elo.Max.
type Standing struct {
	ID       StandingID // 0 while it is not stored
	Player   PlayerID
	Name     string // what the group last knew the player by
	Elo      int
	StartElo int
	BestElo  int
	Version  int64
	Played   int
	Won      int
	Drawn    int
	Lost     int
	Streak   int // wins in a row, or losses in a row as a negative number
	// LeftAt is when the player left the group, zero for a member. Who has left is not shown in the ranking.
	LeftAt time.Time
}

// beginning returns the standing as it was before its first match.
func (s Standing) beginning() Standing {
	return Standing{
		ID: s.ID, Player: s.Player, Name: s.Name, Version: s.Version,
		Elo: s.StartElo, StartElo: s.StartElo, BestElo: s.StartElo, LeftAt: s.LeftAt,
	}
}

// back returns the standing of somebody who has been in the group at that moment.
func (s Standing) back(at time.Time) Standing {
	if !s.LeftAt.After(at) {
		s.LeftAt = time.Time{}
	}
	return s
}

// leftWith returns when somebody has left who has two standings in a ladder: not at all if one of them is a member's.
func (s Standing) leftWith(o Standing) time.Time {
	switch {
	case s.LeftAt.IsZero() || o.LeftAt.IsZero():
		return time.Time{}
	case s.LeftAt.Before(o.LeftAt):
		return o.LeftAt
	default:
		return s.LeftAt
	}
}

// counters returns the matches won, drawn and lost as operators read them.
func (s Standing) counters() string { return fmt.Sprintf("%d–%d–%d", s.Won, s.Drawn, s.Lost) }

// after returns the standing after a match with this score and this change of the rating.
func (s Standing) after(score elo.Score, change int) Standing {
	s.Elo += change
	s.BestElo = max(s.BestElo, s.Elo)
	s.count(score, 1)
	switch score {
	case elo.Win:
		s.Streak = max(s.Streak, 0) + 1
	case elo.Loss:
		s.Streak = min(s.Streak, 0) - 1
	default:
		s.Streak = 0
	}
	return s
}

// count adds so many matches with this score to the counters.
func (s *Standing) count(score elo.Score, n int) {
	s.Played += n
	switch score {
	case elo.Win:
		s.Won += n
	case elo.Loss:
		s.Lost += n
	default:
		s.Drawn += n
	}
}
