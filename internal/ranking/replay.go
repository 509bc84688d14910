package ranking

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// ErrInconsistent means that the stored data of a ladder is inconsistent, so that it cannot be replayed. Verify says where.
var ErrInconsistent = errors.New("stored ratings are inconsistent")

// PlayedMatch is a stored match of a ladder.
type PlayedMatch struct {
	ID     MatchID
	Number int
	RatingRules
	Result
	PlayedAt time.Time
	Undone   bool
	Upset    int    // see NewMatch
	Parts    []Part // side 1 first
}

// MatchHistory holds the matches of a ladder from some match to the last one.
type MatchHistory struct {
	Matches   []PlayedMatch  // in the order of their numbers, undone ones too
	Standings []RankedPlayer // the current standings of all their players
	Season    SeasonID
	Over      int // the number of the season if it is over, which the service adds; 0 if it goes on
}

// RankedPlayer is a standing, with what is needed to verify whose it is.
type RankedPlayer struct {
	Standing

	// Merged is true if the player was merged into another one. Such a player must not have a standing.
	Merged bool
	// Elsewhere is true for an unclaimed player of another group. Such a player must not have a standing either.
	Elsewhere bool
}

// replayer replays matches one after the other, starting from standings.
type replayer struct {
	standings map[PlayerID]*Standing
}

// play replays a match and returns the history entries that it must have, in the order of its parts, and its upset. An undone match has
// none.
func (r replayer) play(m *PlayedMatch) (entries []Entry, upset int, err error) {
	if m.Undone {
		return nil, 0, nil
	}
	standings := make([]*Standing, len(m.Parts))
	sides := [3]int{}
	for i, p := range m.Parts {
		s := r.standings[p.Player]
		if s == nil {
			return nil, 0, fmt.Errorf("%w: match %d: player %d has no standing", ErrInconsistent, m.Number, p.Player)
		}
		standings[i] = s
		sides[p.Side]++
	}
	if sides[1] == 0 || sides[2] == 0 {
		return nil, 0, fmt.Errorf("%w: match %d: a side is empty", ErrInconsistent, m.Number)
	}
	entries, upset = play(m.RatingRules, m.Score, m.PlayedAt, m.Parts, standings)
	return entries, upset, nil
}

// Rewrite holds the changes that a replay makes to the history and the standings.
type Rewrite struct {
	Season     SeasonID
	Reason     Reason
	Players    []ReplacedPlayer // their entries pass to those who take their places, before others replace them
	Superseded []OldEntry       // current entries that no longer apply
	Entries    []NewEntry       // entries that replace them
	Upsets     []ChangedUpset
	Standings  []Standing // sorted by id, each with the version that was read; those without an id are new
	Unplayed   []PlayerID // who has not played a match any more: only the store knows when they last played
}

// ChangedUpset is a match whose upset has changed.
type ChangedUpset struct {
	Match MatchID `json:"id"`
	Upset int     `json:"upset"` // see NewMatch
}

// Reason is why the history was rewritten.
type Reason string

// The reasons.
const (
	ByUndo    Reason = "undo"
	ByRestore Reason = "restore"
	ByFix     Reason = "fix"
	ByMove    Reason = "move"
	ByMerge   Reason = "merge"
	ByRepair  Reason = "repair"
)

// OldEntry is a history entry that no longer applies.
type OldEntry struct {
	ID     HistoryID `json:"id"`
	Match  MatchID   `json:"match_id"`
	Player PlayerID  `json:"player_id"`
}

// NewEntry is a history entry to be appended.
type NewEntry struct {
	Match  MatchID  `json:"match_id"`
	Player PlayerID `json:"player_id"`
	Entry
}

// addDifferences adds the changes to the rewrite that make the history entries of a match equal to entries, and its upset.
func (w *Rewrite) addDifferences(m *PlayedMatch, entries []Entry, upset int) {
	if m.Upset != upset {
		w.Upsets = append(w.Upsets, ChangedUpset{m.ID, upset})
	}
	for i, p := range m.Parts {
		if p.Entry != nil && entries != nil && !p.Entry.differs(entries[i]) {
			continue
		}
		if p.Entry != nil {
			w.Superseded = append(w.Superseded, OldEntry{p.Entry.ID, m.ID, p.Player})
		}
		if entries != nil {
			w.Entries = append(w.Entries, NewEntry{Match: m.ID, Player: p.Player, Entry: entries[i]})
		} else if p.Entry != nil {
			w.Unplayed = append(w.Unplayed, p.Player)
		}
	}
}

// entries returns the history entries of a match after the rewrite, in the order of its parts.
func (w Rewrite) entries(m PlayedMatch) []Entry {
	entries := m.entries()
	for i, p := range m.Parts {
		at := slices.IndexFunc(w.Entries, func(e NewEntry) bool { return e.Match == m.ID && e.Player == p.Player })
		if at >= 0 {
			entries[i] = w.Entries[at].Entry
		}
	}
	return entries
}

// initialStandings returns the standings before the first match of the history, by player. LastPlayed stays as it is, because the time
// before cannot be calculated backwards; if the replay leaves matches out, the store corrects it.
func (h MatchHistory) initialStandings() (map[PlayerID]*Standing, error) {
	standings := make(map[PlayerID]*Standing, len(h.Standings))
	for _, s := range h.Standings {
		standing := s.Standing
		standings[s.Player] = &standing
	}
	seen := make(map[PlayerID]bool, len(h.Standings))
	for i := range h.Matches {
		m := &h.Matches[i]
		for _, p := range m.Parts {
			s := standings[p.Player]
			if m.Undone && p.Entry == nil {
				continue
			}
			if m.Undone || p.Entry == nil || s == nil {
				return nil, fmt.Errorf("%w: match %d, player %d", ErrInconsistent, m.Number, p.Player)
			}
			s.count(outcomeFor(p.Side, m.Score), -1)
			if !seen[p.Player] {
				seen[p.Player] = true
				s.Elo, s.BestElo, s.Streak, s.Longest = p.Entry.Before, p.Entry.BestBefore, p.Entry.StreakBefore, p.Entry.LongestBefore
			}
		}
	}
	return standings, nil
}

// replay replays the history and returns the resulting changes. It calls change for each match in order, to modify it before it is
// replayed.
func (h MatchHistory) replay(reason Reason, change func(*PlayedMatch)) (Rewrite, error) {
	standings, err := h.initialStandings()
	if err != nil {
		return Rewrite{}, err
	}
	return h.replayFrom(standings, reason, change)
}

// replayFrom is replay from the given initial standings.
func (h MatchHistory) replayFrom(standings map[PlayerID]*Standing, reason Reason, change func(*PlayedMatch)) (Rewrite, error) {
	r, w := replayer{standings}, Rewrite{Season: h.Season, Reason: reason}
	for i := range h.Matches {
		m := h.Matches[i]
		m.Parts = slices.Clone(m.Parts)
		change(&m)
		entries, upset, err := r.play(&m)
		if err != nil {
			return Rewrite{}, err
		}
		w.addDifferences(&m, entries, upset)
	}
	for _, s := range h.Standings {
		if now, there := r.standings[s.Player]; there && now.differs(s.Standing) {
			w.Standings = append(w.Standings, *now)
		}
	}
	slices.SortFunc(w.Standings, func(a, b Standing) int { return cmp.Compare(a.ID, b.ID) })
	return w, nil
}

// maxMoved is the maximum number of ratings that a notice lists.
const maxMoved = 12

// moved returns the ratings that a rewrite changes. The players in first come first, changed or not. Others follow, largest change first.
func (h MatchHistory) moved(w Rewrite, first []PlayerID) Moved {
	now := make(map[PlayerID]int, len(w.Standings))
	for _, s := range w.Standings {
		now[s.Player] = s.Elo
	}
	var named, others []RatingChange
	for _, s := range h.Standings {
		after, rewritten := now[s.Player]
		if !rewritten {
			after = s.Elo
		}
		change := RatingChange{Name: Name{Player: s.Player}, Before: s.Elo, After: after}
		switch {
		case slices.Contains(first, s.Player):
			named = append(named, change)
		case after != s.Elo:
			others = append(others, change)
		}
	}
	slices.SortStableFunc(others, func(a, b RatingChange) int { return cmp.Compare(b.distance(), a.distance()) })
	room := min(len(others), max(0, maxMoved-len(named)))
	return Moved{Ratings: append(named, others[:room]...), Others: len(others) - room, Season: h.Over}
}

// distance returns the absolute change of the rating.
func (r RatingChange) distance() int { return max(r.After-r.Before, r.Before-r.After) }

// entries returns the current history entries of a match, in the order of its parts.
func (m PlayedMatch) entries() []Entry {
	entries := make([]Entry, len(m.Parts))
	for i, p := range m.Parts {
		if p.Entry != nil {
			entries[i] = *p.Entry
		}
	}
	return entries
}
