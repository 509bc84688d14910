package ranking

import (
	"fmt"
	"time"

	"elobot/internal/elo"
)

// Rules are the rules of a ladder. In JSON, its fields have the names of the ladder's columns. The database holds the ranges of the
// numbers.
type Rules struct {
	Start              int  `json:"start_elo"`     // the rating of a newcomer
	PlaceMatches       int  `json:"place_matches"` // how many matches give a place in the ranking
	HideDays           int  `json:"hide_days"`     // for how many days the ranking shows somebody who does not play, 0 for ever
	DrawsAllowed       bool `json:"draws_allowed"`
	UnevenTeamsAllowed bool `json:"uneven_teams_allowed"` // the sides may differ in size
	// Halfway is true if people begin a season half-way between the rating with which they ended the one before and the start rating.
	Halfway bool `json:"season_halfway"`
	// SeasonMonths is how many calendar months an automatic season lasts: 1, 3, or 0 if admins start each season.
	SeasonMonths int `json:"season_months"`
	RatingRules
}

// DefaultRules are the rules of a new ladder.
func DefaultRules() Rules {
	return Rules{Start: 1500, PlaceMatches: 3, HideDays: 60, DrawsAllowed: true, RatingRules: RatingRules{K: 32}}
}

// RatingRules are the rules that decide how a match changes ratings. A match keeps those that it was played under.
type RatingRules struct {
	K int `json:"k_factor"`
	Provisional
	// Margin is true if the margin of victory multiplies K by elo.MarginFactor of the score. In a match in sets, the score counts sets.
	Margin bool `json:"margin_of_victory"`
}

// Provisional is another K-factor for a player's first matches in a ladder, zero for none. It lets newcomers reach their level sooner.
// Their opponents keep their own K, so the changes of such a match need not add up to zero.
type Provisional struct {
	K       int `json:"provisional_k_factor"`
	Matches int `json:"provisional_matches"` // how many matches
}

// kAfter returns the K-factor of a player who has played that many matches in the ladder before. Undone matches do not count.
func (r RatingRules) kAfter(played int) int {
	if played < r.Provisional.Matches {
		return r.Provisional.K
	}
	return r.K
}

// Standing is a player's rating, counters and streak in a ladder. Ratings are between elo.Min and elo.Max. In JSON, its fields have the names
// of the columns.
type Standing struct {
	ID       StandingID `json:"id"` // 0 if not stored yet
	Player   PlayerID   `json:"player_id"`
	Name     string     `json:"name"` // the player's last name in this group
	Elo      int        `json:"elo"`
	StartElo int        `json:"start_elo"`
	BestElo  int        `json:"best_elo"`
	Version  int64      `json:"version"` // changes with every write; a write needs the version that was read
	Played   int        `json:"played"`
	Won      int        `json:"won"`
	Drawn    int        `json:"drawn"`
	Lost     int        `json:"lost"`
	Streak   int        `json:"streak"`         // wins in a row, or losses in a row as a negative number
	Longest  int        `json:"longest_streak"` // the most wins in a row
	// LastPlayed is when the last match that counts was played, zero for never.
	LastPlayed time.Time `json:"last_played_at,omitzero"`
	// LeftAt is when the player left the group, zero for a member. The ranking does not show players who left.
	LeftAt time.Time `json:"left_at,omitzero"`
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

// counters formats the matches played, won, drawn and lost for operators.
func (s Standing) counters() string {
	return fmt.Sprintf("%d (%d–%d–%d)", s.Played, s.Won, s.Drawn, s.Lost)
}

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

// Part is a player's participation in a match.
type Part struct {
	Player PlayerID
	Side   int    // 1 is A, 2 is B
	Entry  *Entry // the current history entry; nil if there is none, as for an undone match
}

// Entry is a history entry: how a match changed a standing. In JSON, its fields have the names of the columns.
type Entry struct {
	ID     HistoryID `json:"-"`
	Before int       `json:"elo_before"`
	After  int       `json:"elo_after"`
	K      int       `json:"k_factor"` // the player's K-factor in the match, without the margin of victory
	// BestBefore, StreakBefore and LongestBefore belong to the standing before the match. A replay that begins with this match needs them,
	// because they cannot be calculated backwards.
	BestBefore    int `json:"best_before"`
	StreakBefore  int `json:"streak_before"`
	LongestBefore int `json:"longest_before"`
}

// differs is true if two entries differ in anything but their ids.
func (e Entry) differs(o Entry) bool {
	e.ID, o.ID = 0, 0
	return e != o
}

// play updates the standings of the players of a match played at this time, and returns the history entries, and the upset as NewMatch has
// it. standings and entries are in the order of parts.
func play(rules RatingRules, score Score, at time.Time, parts []Part, standings []*Standing) (entries []Entry, upset int) {
	var sides [2][]int
	for i, p := range parts {
		sides[p.Side-1] = append(sides[p.Side-1], standings[i].Elo)
	}
	margin := 1.0
	if rules.Margin {
		margin = elo.MarginFactor(score.A, score.B)
	}
	entries = make([]Entry, len(parts))
	for i, p := range parts {
		s, outcome := standings[i], outcomeFor(p.Side, score)
		e := Entry{Before: s.Elo, K: rules.kAfter(s.Played), BestBefore: s.BestElo, StreakBefore: s.Streak, LongestBefore: s.Longest}
		*s = s.after(outcome, elo.Change(float64(e.K)*margin, sides[p.Side-1], sides[2-p.Side], outcome), at)
		e.After = s.Elo
		entries[i] = e
	}
	if upset = Upset(score, sides); upset < MinUpset {
		upset = 0
	}
	return entries, upset
}
