package ranking

import (
	"fmt"
	"time"

	"elobot/internal/elo"
)

// Standing is a player's rating, counters and streak in a ladder. Ratings are between elo.Min and elo.Max.
type Standing struct {
	ID       StandingID // 0 if not stored yet
	Player   PlayerID
	Name     string // the player's last name in this group
	Elo      int
	StartElo int
	BestElo  int
	Version  int64 // changes with every write; a write needs the version that was read
	Played   int
	Won      int
	Drawn    int
	Lost     int
	Streak   int // wins in a row, or losses in a row as a negative number
	Longest  int // the most wins in a row
	// LastPlayed is when the last match that counts was played, zero for never.
	LastPlayed time.Time
	// LeftAt is when the player left the group, zero for a member. The ranking does not show players who left.
	LeftAt time.Time
}

// initial returns the standing as it was before its first match.
func (s Standing) initial() Standing {
	return Standing{
		ID: s.ID, Player: s.Player, Name: s.Name, Version: s.Version,
		Elo: s.StartElo, StartElo: s.StartElo, BestElo: s.StartElo, LeftAt: s.LeftAt,
	}
}

// presentAt returns the standing of a player who was in the group at that time: it clears an earlier LeftAt.
func (s Standing) presentAt(at time.Time) Standing {
	if !s.LeftAt.After(at) {
		s.LeftAt = time.Time{}
	}
	return s
}

// mergedLeftAt returns LeftAt for the combination of two standings: zero if either is a member's, else the later one.
func (s Standing) mergedLeftAt(o Standing) time.Time {
	switch {
	case s.LeftAt.IsZero() || o.LeftAt.IsZero():
		return time.Time{}
	case s.LeftAt.Before(o.LeftAt):
		return o.LeftAt
	default:
		return s.LeftAt
	}
}

// counters formats the matches won, drawn and lost for operators.
func (s Standing) counters() string { return fmt.Sprintf("%d–%d–%d", s.Won, s.Drawn, s.Lost) }

// lastPlayed formats LastPlayed for operators.
func (s Standing) lastPlayed() string {
	if s.LastPlayed.IsZero() {
		return "never"
	}
	return s.LastPlayed.UTC().Format(time.RFC3339Nano)
}

// differs is true if two standings differ. Equal times may be in different zones.
func (s Standing) differs(o Standing) bool {
	if s.LastPlayed.Equal(o.LastPlayed) {
		o.LastPlayed = s.LastPlayed
	}
	if s.LeftAt.Equal(o.LeftAt) {
		o.LeftAt = s.LeftAt
	}
	return s != o
}

// after returns the standing after a match with the given score and rating change. at is when it was played: matches may be reported later
// than others that were played after them.
func (s Standing) after(score elo.Score, change int, at time.Time) Standing {
	if at.After(s.LastPlayed) {
		s.LastPlayed = at
	}
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
	s.Longest = max(s.Longest, s.Streak)
	return s
}

// count adds n matches with the given score to the counters; n may be negative.
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

// standing returns the person's standing, or a new one in the ladder. That of a non-player has no Player.
func (k Known) standing(l Ladder) Standing {
	if k.Standing != nil {
		return *k.Standing
	}
	s := Standing{Elo: l.Start, StartElo: l.Start, BestElo: l.Start}
	if k.Player != nil {
		s.Player, s.Name = k.Player.ID, k.Player.Name
	}
	return s
}
