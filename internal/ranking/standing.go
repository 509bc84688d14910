package ranking

import (
	"fmt"

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
}

// beginning returns the standing as it was before its first match.
func (s Standing) beginning() Standing {
	return Standing{
		ID: s.ID, Player: s.Player, Name: s.Name, Version: s.Version,
		Elo: s.StartElo, StartElo: s.StartElo, BestElo: s.StartElo,
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
