package ranking

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"elobot/internal/elo"
)

// ErrInconsistent means that what is stored of a ladder contradicts itself, so that nothing can be reckoned from it.
// Verifying the group says where.
var ErrInconsistent = errors.New("the stored ratings contradict each other")

// PlayedMatch is a match of a ladder as it is stored.
type PlayedMatch struct {
	ID     MatchID
	Number int
	K      int
	Result
	Undone bool
	Parts  []Part // side 1 first
}

// Part is somebody's part in a match.
type Part struct {
	Player PlayerID
	Side   int    // 1 is A, 2 is B
	Entry  *Entry // the history's current entry; nil when there is none, as of a match that is undone
}

// Entry is an entry of the history: how a match has moved a standing.
type Entry struct {
	ID     HistoryID
	Before int
	After  int
	// BestBefore and StreakBefore are those of the standing before the match: what a replay that begins with this match
	// cannot reckon backwards.
	BestBefore   int
	StreakBefore int
}

// differs tells whether two entries say something different.
func (e Entry) differs(o Entry) bool {
	e.ID, o.ID = 0, 0
	return e != o
}

// Course is the course of a ladder from some match on to the last one.
type MatchHistory struct {
	Matches   []PlayedMatch  // in the order of their numbers, undone ones too
	Standings []RankedPlayer // of all who have a part in them
}

// Contender is a standing with what it takes to name whose it is.
type RankedPlayer struct {
	Standing
	Username string

	// Namesakes and Earlier are as in Known.
	Namesakes, Earlier int

	// Merged says that the player has become another one, and should not be ranked any more.
	Merged bool
}

// Called returns what the contender is called in notices.
func (c RankedPlayer) Called() Name {
	return Name{Name: c.Name, Mark: mark(c.Username, c.Namesakes, c.Earlier)}
}

// without returns the contender as it is when another one is gone from the ladder.
func (c RankedPlayer) without(gone RankedPlayer) RankedPlayer {
	if strings.EqualFold(c.Name, gone.Name) {
		c.Namesakes--
		if gone.ID < c.ID {
			c.Earlier--
		}
	}
	return c
}

// play moves the standings of those who play a match, given in the order of the parts.
func play(k int, score Score, parts []Part, standings []*Standing) {
	var sides [2][]int
	for i, p := range parts {
		sides[p.Side-1] = append(sides[p.Side-1], standings[i].Elo)
	}
	change := elo.Change(k, sides[0], sides[1], score.of(1))
	for i, p := range parts {
		if p.Side == 1 {
			*standings[i] = standings[i].after(score.of(1), change)
		} else {
			*standings[i] = standings[i].after(score.of(2), -change)
		}
	}
}

// replayer plays matches again, one after the other.
type replayer struct {
	standings map[PlayerID]*Standing
}

// play plays a match again and returns the entries that the history must have for it, in the order of the parts: none
// for a match that is undone.
func (r replayer) play(m *PlayedMatch) ([]Entry, error) {
	if m.Undone {
		return nil, nil
	}
	standings, entries := make([]*Standing, len(m.Parts)), make([]Entry, len(m.Parts))
	sides := [3]int{}
	for i, p := range m.Parts {
		s := r.standings[p.Player]
		if s == nil {
			return nil, fmt.Errorf("%w: match %d: player %d has no standing", ErrInconsistent, m.Number, p.Player)
		}
		standings[i] = s
		entries[i] = Entry{Before: s.Elo, BestBefore: s.BestElo, StreakBefore: s.Streak}
		sides[p.Side]++
	}
	if sides[1] == 0 || sides[2] == 0 {
		return nil, fmt.Errorf("%w: match %d: a side is empty", ErrInconsistent, m.Number)
	}
	play(m.K, m.Score, m.Parts, standings)
	for i, s := range standings {
		entries[i].After = s.Elo
	}
	return entries, nil
}

// Rewrite is what a replay changes: entries of the history that others take the place of, and standings.
type Rewrite struct {
	Reason     Reason
	Superseded []HistoryID
	Appended   []NewEntry
	Standings  []Standing // in the order of their ids, each with the version that it was read with
}

// Reason is why the history was rewritten.
type Reason string

// The reasons.
const (
	ByUndo   Reason = "undo"
	ByFix    Reason = "fix"
	ByMerge  Reason = "merge"
	ByRepair Reason = "repair"
)

// NewEntry is an entry to be appended to the history.
type NewEntry struct {
	Match  MatchID
	Player PlayerID
	Entry
}

// compare adds to the rewrite what it takes for the history of a match to say this.
func (w *Rewrite) compare(m *PlayedMatch, entries []Entry) {
	for i, p := range m.Parts {
		if p.Entry != nil && entries != nil && !p.Entry.differs(entries[i]) {
			continue
		}
		if p.Entry != nil {
			w.Superseded = append(w.Superseded, p.Entry.ID)
		}
		if entries != nil {
			w.Appended = append(w.Appended, NewEntry{Match: m.ID, Player: p.Player, Entry: entries[i]})
		}
	}
}

// entries returns what the history says of a match after the rewrite, in the order of its parts.
func (w Rewrite) entries(m PlayedMatch) []Entry {
	entries := m.entries()
	for i, p := range m.Parts {
		at := slices.IndexFunc(w.Appended, func(e NewEntry) bool { return e.Match == m.ID && e.Player == p.Player })
		if at >= 0 {
			entries[i] = w.Appended[at].Entry
		}
	}
	return entries
}

// before returns the standings as they were before the course, by player.
func (c MatchHistory) before() (map[PlayerID]*Standing, error) {
	standings := make(map[PlayerID]*Standing, len(c.Standings))
	for _, s := range c.Standings {
		standing := s.Standing
		standings[s.Player] = &standing
	}
	seen := make(map[PlayerID]bool, len(c.Standings))
	for i := range c.Matches {
		m := &c.Matches[i]
		for _, p := range m.Parts {
			s := standings[p.Player]
			if m.Undone && p.Entry == nil {
				continue
			}
			if m.Undone || p.Entry == nil || s == nil {
				return nil, fmt.Errorf("%w: match %d, player %d", ErrInconsistent, m.Number, p.Player)
			}
			s.count(m.of(p.Side), -1)
			if !seen[p.Player] {
				seen[p.Player] = true
				s.Elo, s.BestElo, s.Streak = p.Entry.Before, p.Entry.BestBefore, p.Entry.StreakBefore
			}
		}
	}
	return standings, nil
}

// replay plays the course again after change has altered its matches, and returns what that changes. change is called
// for each match, in order.
func (c MatchHistory) replay(reason Reason, change func(*PlayedMatch)) (Rewrite, error) {
	standings, err := c.before()
	if err != nil {
		return Rewrite{}, err
	}
	return c.replayFrom(standings, reason, change)
}

// replayFrom is replay with the standings that the course begins with.
func (c MatchHistory) replayFrom(standings map[PlayerID]*Standing, reason Reason, change func(*PlayedMatch)) (Rewrite, error) {
	r, w := replayer{standings}, Rewrite{Reason: reason}
	for i := range c.Matches {
		m := c.Matches[i]
		m.Parts = slices.Clone(m.Parts)
		change(&m)
		entries, err := r.play(&m)
		if err != nil {
			return Rewrite{}, err
		}
		w.compare(&m, entries)
	}
	for _, s := range c.Standings {
		if now, there := r.standings[s.Player]; there && *now != s.Standing {
			w.Standings = append(w.Standings, *now)
		}
	}
	slices.SortFunc(w.Standings, func(a, b Standing) int { return cmp.Compare(a.ID, b.ID) })
	return w, nil
}

// maxMoved is how many ratings a notice names.
const maxMoved = 12

// moved tells whose ratings a rewrite moves: first the given players, moved or not, then others by how far they move.
func (c MatchHistory) moved(w Rewrite, first []PlayerID) Moved {
	now := make(map[PlayerID]int, len(w.Standings))
	for _, s := range w.Standings {
		now[s.Player] = s.Elo
	}
	var named, others []RatingChange
	for _, s := range c.Standings {
		after, rewritten := now[s.Player]
		if !rewritten {
			after = s.Elo
		}
		change := RatingChange{Name: s.Called(), Before: s.Elo, After: after}
		switch {
		case slices.Contains(first, s.Player):
			named = append(named, change)
		case after != s.Elo:
			others = append(others, change)
		}
	}
	slices.SortStableFunc(others, func(a, b RatingChange) int { return cmp.Compare(b.distance(), a.distance()) })
	room := min(len(others), max(0, maxMoved-len(named)))
	return Moved{Ratings: append(named, others[:room]...), Others: len(others) - room}
}

// distance is how far a rating has moved.
func (r RatingChange) distance() int { return max(r.After-r.Before, r.Before-r.After) }
