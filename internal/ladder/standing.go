package ladder

import (
	"cmp"
	"fmt"
	"time"

	"elobot/internal/elo"
)

// RatingRules determine how a match changes ratings. A match keeps the rules under which it was
// played.
type RatingRules struct {
	K int `json:"k_factor"`
	Provisional
	// Margin is set if the margin of victory counts: K is then multiplied by elo.MarginFactor. In a
	// match played in sets, the margin is the difference in sets.
	Margin bool `json:"margin_of_victory"`
}

// Provisional is a different K-factor for a player's first matches in a season. The zero value
// means that there is none. A higher K lets new players reach their level sooner. Opponents keep
// their own K, so the rating changes of such a match may not add up to zero.
type Provisional struct {
	K       int `json:"provisional_k_factor"`
	Matches int `json:"provisional_matches"` // number of matches with this K
}

// kAfter returns the K-factor of a player who has played this many matches in the season so far.
// Undone matches do not count.
func (r RatingRules) kAfter(played int) int {
	if played < r.Provisional.Matches {
		return r.Provisional.K
	}
	return r.K
}

// Standing is a player's rating, counters and streak in a season of a ladder. Ratings are between
// elo.Min and elo.Max. The JSON names are column names of the group_players table.
type Standing struct {
	ID       StandingID `json:"id"` // 0 if not stored yet
	Player   PlayerID   `json:"player_id"`
	Name     string     `json:"name"` // the player's name in the group, not updated after the season
	Elo      int        `json:"elo"`
	StartElo int        `json:"start_elo"`
	BestElo  int        `json:"best_elo"`
	// Version is the version of the stored standing when it was read. It changes with every write,
	// and a write based on an outdated version fails.
	Version int64 `json:"version"`
	Counters
	Streak  int `json:"streak"`         // wins in a row, or losses in a row as a negative number
	Longest int `json:"longest_streak"` // the longest run of wins
	// LastPlayed is the time of the player's latest match that counts, zero if there is none.
	LastPlayed time.Time `json:"last_played_at,omitzero"`
	// LeftAt is when the player left the group, zero for a member. The ranking does not show
	// players who have left.
	LeftAt time.Time `json:"left_at,omitzero"`
}

// Initial returns the standing before the player's first match.
func (s Standing) Initial() Standing {
	return Standing{
		ID: s.ID, Player: s.Player, Name: s.Name, Version: s.Version,
		Elo: s.StartElo, StartElo: s.StartElo, BestElo: s.StartElo, LeftAt: s.LeftAt,
	}
}

// PresentAt returns the standing of a player who was in the group at the given time. It clears
// LeftAt unless the player left after that time.
func (s Standing) PresentAt(at time.Time) Standing {
	if !s.LeftAt.After(at) {
		s.LeftAt = time.Time{}
	}
	return s
}

// Differs reports whether two standings differ. Times in different zones are equal if they are the
// same instant.
func (s Standing) Differs(o Standing) bool {
	if s.LastPlayed.Equal(o.LastPlayed) {
		o.LastPlayed = s.LastPlayed
	}
	if s.LeftAt.Equal(o.LeftAt) {
		o.LeftAt = s.LeftAt
	}
	return s != o
}

// after returns the standing after a match with the given score and rating change. at is the
// PlayedAt of the match, which may be before LastPlayed, because reports may be handled out of
// order.
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

// Part is a player's participation in a match.
type Part struct {
	Player PlayerID // for whom the part counts
	Named  PlayerID // who was named in the report, 0 if that is Player
	Side   int      // 1 is A, 2 is B
	Entry  *Entry   // the current history entry, nil for an undone or a new match
}

// Owner returns the player who was named, even if the part counts for another player.
func (p Part) Owner() PlayerID { return cmp.Or(p.Named, p.Player) }

// Entry is a history entry, which records how a match changed a standing. The JSON names are column
// names of the elo_history table.
type Entry struct {
	ID     HistoryID `json:"-"`
	Before int       `json:"elo_before"`
	After  int       `json:"elo_after"`
	// K is the player's K-factor in the match, without the margin of victory.
	K int `json:"k_factor"`
	// BestBefore, StreakBefore and LongestBefore are from the standing before the match. A replay
	// that starts with this match needs them, because they cannot be derived from the current
	// standing.
	BestBefore    int `json:"best_before"`
	StreakBefore  int `json:"streak_before"`
	LongestBefore int `json:"longest_before"`
}

// Differs reports whether two entries differ in anything but their ids.
func (e Entry) Differs(o Entry) bool {
	e.ID, o.ID = 0, 0
	return e != o
}

// String returns the entry in a form for operators.
func (e Entry) String() string {
	return fmt.Sprintf("%d → %d (K %d, best %d, streak %d, longest %d before)",
		e.Before, e.After, e.K, e.BestBefore, e.StreakBefore, e.LongestBefore)
}

// Played is a new match with the changes it makes.
type Played struct {
	RatingRules
	Result
	PlayedAt time.Time
	// Upset is what the function Upset returns for the match, or 0 if that is less than MinUpset.
	Upset   int
	Players []MatchPlayer
}

// MatchPlayer is a player of a new match, with the standings before and after it.
type MatchPlayer struct {
	Named  PlayerID // as in Part
	Side   int      // 1 is A, 2 is B
	K      int      // the player's K-factor in the match
	Before Standing
	After  Standing
}
