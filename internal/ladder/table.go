package ladder

import (
	"fmt"

	"elobot/internal/elo"
)

// Table has the standings of a season by player. All matches change ratings through a Table,
// whether they are recorded, replayed or verified.
type Table map[PlayerID]*Standing

// Play applies a match to the table. It returns the history entries of the match, in the order of
// its parts, and the upset as in Played. An undone match changes nothing, and Play returns no
// entries and no upset for it. If a player has no standing or a side is empty, Play changes nothing
// and fails with ErrInconsistent.
func (t Table) Play(m *Match) (entries []Entry, upset int, err error) {
	if m.Undone {
		return nil, 0, nil
	}
	standings := make([]*Standing, len(m.Parts))
	for i, p := range m.Parts {
		s := t[p.Player]
		if s == nil {
			return nil, 0, fmt.Errorf("%w: match %d: player %d has no standing", ErrInconsistent, m.Number, p.Player)
		}
		standings[i] = s
	}
	if !m.hasBothSides() {
		return nil, 0, fmt.Errorf("%w: match %d: a side is empty", ErrInconsistent, m.Number)
	}
	entries, upset = play(m, standings)
	return entries, upset, nil
}

// play applies a match to the standings of its players. standings and entries are in the order of
// the match's parts. upset is as in Played.
func play(m *Match, standings []*Standing) (entries []Entry, upset int) {
	var sides [2][]int
	for i, p := range m.Parts {
		sides[p.Side-1] = append(sides[p.Side-1], standings[i].Elo)
	}
	margin := 1.0
	if m.Margin {
		margin = elo.MarginFactor(m.A, m.B)
	}
	entries = make([]Entry, len(m.Parts))
	for i, p := range m.Parts {
		s, outcome := standings[i], m.of(p.Side)
		e := Entry{
			Before: s.Elo, K: m.kAfter(s.Played),
			BestBefore: s.BestElo, StreakBefore: s.Streak, LongestBefore: s.Longest,
		}
		*s = s.after(outcome, elo.Change(float64(e.K)*margin, sides[p.Side-1], sides[2-p.Side], outcome), m.PlayedAt)
		e.After = s.Elo
		entries[i] = e
	}
	if upset = Upset(m.Score, sides); upset < MinUpset {
		upset = 0
	}
	return entries, upset
}
