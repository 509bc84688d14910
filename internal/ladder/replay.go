package ladder

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// ErrInconsistent means that the stored data of a ladder is inconsistent, so its matches cannot be
// replayed. `elobot verify` shows the inconsistencies.
var ErrInconsistent = errors.New("stored ratings are inconsistent")

// Match is a match of a ladder. It has no ID and no Number before it is stored.
type Match struct {
	ID     MatchID
	Number int
	Position
	RatingRules
	Result
	PlayedAt time.Time
	Undone   bool
	// Doubled is set if the match is Undone only because two of its parts count for one player.
	Doubled  bool
	Upset    int    // as in Played
	StandIns [2]int // nameless guests on each side, who do not affect the ratings and have no part
	Parts    []Part // side 1 first
}

// History holds the matches of a season, from a given match to the last one.
type History struct {
	Matches   []Match        // ordered by position, including undone ones
	Standings []RankedPlayer // the current standings of the players in Matches, and perhaps of others
	Season    SeasonID
	// Over is the number of the season if it is over, 0 if it is current.
	// ranking.Store.MatchHistory always leaves it 0.
	Over int
}

// RankedPlayer is a standing with the facts that determine whether its player may have one.
type RankedPlayer struct {
	Standing

	// Merged is set if the player was merged into another player, and so must not have a standing.
	Merged bool
	// Named is the owner of the standing while it counts for another player, who is then Player.
	// Named equals Player if the standing is Kept. Otherwise, it is 0.
	Named PlayerID
	// Elsewhere is set if the player is an unclaimed player of another group, and so must not have
	// a standing here.
	Elsewhere bool
}

// Owner returns the player to whom the standing belongs, even if it currently counts for another
// player.
func (r RankedPlayer) Owner() PlayerID { return cmp.Or(r.Named, r.Player) }

// Kept reports whether the standing currently counts for nobody, because its player counts as
// another player who has a standing. It is kept until its player no longer counts as another
// player.
func (r RankedPlayer) Kept() bool { return r.Named == r.Player }

// Rewrite holds the changes that a replay makes to the history and the standings.
type Rewrite struct {
	Season SeasonID
	Reason Reason
	// Players are replaced before the other changes are made. The history entry of a replaced
	// player passes to the new player, so Superseded and Entries name only the new players.
	Players    []ReplacedPlayer
	Superseded []OldEntry // current entries that no longer apply
	Entries    []NewEntry // to be appended
	Upsets     []ChangedUpset
	// Standings are the changed standings, sorted by id. Each has the version that was read. A
	// standing without an id is new.
	Standings []Standing
	// Unplayed are the players of a match that no longer counts, and players who were replaced in a
	// match. A replay does not see their earlier matches, so the store determines when they last
	// played.
	Unplayed []PlayerID
}

// ReplacedPlayer replaces the player From in a match with the player To, and states To's side and
// place. From and To may be the same player.
type ReplacedPlayer struct {
	Match MatchID  `json:"match_id"`
	From  PlayerID `json:"from_id"`
	To    PlayerID `json:"into_id"`
	// Named is who was named, as in Part. It is ignored if From is To, because the named player
	// then stays the same.
	Named PlayerID `json:"named_id,omitzero"`
	Side  int      `json:"side"`  // as in Part
	Place int      `json:"place"` // the position among all players of the match, from 1
}

// ChangedUpset is the new upset of a match.
type ChangedUpset struct {
	Match MatchID `json:"id"`
	Upset int     `json:"upset"` // as in Played
}

// Reason is why the history was rewritten.
type Reason string

const (
	ByMatch   Reason = "match"
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

// addDifferences adds the changes that replace the stored entries and upset of a match with the
// given ones. entries is nil for an undone match.
func (w *Rewrite) addDifferences(m *Match, entries []Entry, upset int) {
	if m.Upset != upset {
		w.Upsets = append(w.Upsets, ChangedUpset{m.ID, upset})
	}
	for i, p := range m.Parts {
		if p.Entry != nil && entries != nil && !p.Entry.Differs(entries[i]) {
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

// EntriesOf returns the history entries that a match has after the rewrite, in the order of its
// parts. For a match that the rewrite undoes, it returns the old entries.
func (w Rewrite) EntriesOf(m Match) []Entry {
	entries := m.Entries()
	for i, p := range m.Parts {
		at := slices.IndexFunc(w.Entries, func(e NewEntry) bool { return e.Match == m.ID && e.Player == p.Player })
		if at >= 0 {
			entries[i] = w.Entries[at].Entry
		}
	}
	return entries
}

// Initial returns the standings before the first match of the history. It fails with
// ErrInconsistent if a player of a match that counts has no entry for it or no standing, or if an
// undone match has an entry. LastPlayed keeps its current value, because the history does not show
// an earlier one. The store corrects LastPlayed for Rewrite.Unplayed.
func (h History) Initial() (Table, error) {
	standings := make(Table, len(h.Standings))
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
			s.count(m.of(p.Side), -1)
			if !seen[p.Player] {
				seen[p.Player] = true
				s.Elo, s.BestElo, s.Streak, s.Longest = p.Entry.Before, p.Entry.BestBefore,
					p.Entry.StreakBefore, p.Entry.LongestBefore
			}
		}
	}
	return standings, nil
}

// Replay replays the history and returns the resulting changes. Before it plays a match, it passes
// a copy of the match to change, which may modify the copy. It fails as Initial and Table.Play do.
func (h History) Replay(reason Reason, change func(*Match)) (Rewrite, error) {
	standings, err := h.Initial()
	if err != nil {
		return Rewrite{}, err
	}
	return h.ReplayFrom(standings, reason, change)
}

// ReplayFrom is like Replay, but starts from the standings in table, and modifies them. It fails as
// Table.Play does.
func (h History) ReplayFrom(table Table, reason Reason, change func(*Match)) (Rewrite, error) {
	w := Rewrite{Season: h.Season, Reason: reason}
	for i := range h.Matches {
		m := h.Matches[i]
		m.Parts = slices.Clone(m.Parts)
		change(&m)
		entries, upset, err := table.Play(&m)
		if err != nil {
			return Rewrite{}, err
		}
		w.addDifferences(&m, entries, upset)
	}
	for _, s := range h.Standings {
		if now, there := table[s.Player]; there && now.Differs(s.Standing) {
			w.Standings = append(w.Standings, *now)
		}
	}
	slices.SortStableFunc(w.Standings, func(a, b Standing) int { return cmp.Compare(a.ID, b.ID) })
	return w, nil
}

// Entries returns the current history entries of a match, in the order of its parts. A part without
// an entry yields a zero Entry.
func (m Match) Entries() []Entry {
	entries := make([]Entry, len(m.Parts))
	for i, p := range m.Parts {
		if p.Entry != nil {
			entries[i] = *p.Entry
		}
	}
	return entries
}

// Has reports whether the player takes part in the match.
func (m Match) Has(player PlayerID) bool { return m.PartOf(player) != nil }

// PartOf returns the player's part in the match, nil if the player does not take part.
func (m Match) PartOf(player PlayerID) *Part {
	at := slices.IndexFunc(m.Parts, func(p Part) bool { return p.Player == player })
	if at < 0 {
		return nil
	}
	return &m.Parts[at]
}

// IsComplete reports whether both sides of the match have players, and each part has an entry.
func (m Match) IsComplete() bool {
	hasNoEntry := func(p Part) bool { return p.Entry == nil }
	return m.hasBothSides() && !slices.ContainsFunc(m.Parts, hasNoEntry)
}

func (m Match) hasBothSides() bool {
	return len(m.Parts) > 0 && m.Parts[0].Side != m.Parts[len(m.Parts)-1].Side
}
