package ranking

import (
	"context"
	"slices"
)

// merge makes an unclaimed player the person that they have turned out to be. Where both are ranked, their matches are
// one person's from then on, and the ladder is replayed from the first of them; a match of the two against each other, or
// side by side, is undone. It is no effect of the command that has shown it: repeating it changes nothing.
func (s *Service) merge(ctx context.Context, from, into Player) error {
	s.log.InfoContext(ctx, "two players are the same person", "from_player_id", from.ID, "into_player_id", into.ID)
	return s.store.Merge(ctx, from.ID, into.ID, func(ladders []SharedLadder) ([]LadderMerge, error) {
		var merges []LadderMerge
		for _, l := range ladders {
			m, err := l.merge(from)
			if err != nil {
				return nil, err
			}
			merges = append(merges, m)
		}
		return merges, nil
	})
}

// merge makes one standing of the two in a ladder: that of the player who stays, with the start of the older one.
func (l SharedLadder) merge(from Player) (LadderMerge, error) {
	keep, drop := l.Into, l.From
	m := LadderMerge{Chat: l.Chat, Drop: drop.Standing}
	if !slices.ContainsFunc(l.MatchHistory.Standings, func(c RankedPlayer) bool { return c.ID == keep.ID }) {
		l.MatchHistory.Standings = append(l.MatchHistory.Standings, keep) // has joined, and not played yet
	}
	standings, err := l.MatchHistory.before()
	if err != nil {
		return m, err
	}
	one := keep.Standing
	if drop.ID < keep.ID {
		one.StartElo = drop.StartElo
	}
	one.LeftAt = keep.Standing.leftWith(drop.Standing)
	one = one.beginning()
	delete(standings, drop.Player)
	standings[keep.Player] = &one
	var undone []PlayedMatch
	m.Rewrite, err = l.MatchHistory.replayFrom(standings, ByMerge, func(p *PlayedMatch) {
		if p.Undone {
			return
		}
		if p.has(keep.Player) && p.has(drop.Player) {
			undone = append(undone, *p)
			p.Undone = true
			return
		}
		for i := range p.Parts {
			if p.Parts[i].Player == drop.Player {
				p.Parts[i].Player = keep.Player
			}
		}
	})
	if err != nil {
		return m, err
	}
	notice := PlayersMerged{Username: from.Username, Name: keep.without(drop).Called()}
	var left MatchHistory
	for _, s := range l.MatchHistory.Standings {
		if s.ID != drop.ID {
			left.Standings = append(left.Standings, s.without(drop))
		}
	}
	notice.Moved = left.moved(m.Rewrite, []PlayerID{keep.Player})
	for _, p := range undone {
		m.Undone = append(m.Undone, p.ID)
		notice.Undone = append(notice.Undone, p.Number)
		stored := &StoredMatch{Number: p.Number, Result: p.Result, Turned: p.B > p.A}
		card := l.MatchHistory.cardOf(stored, p.Result, p.Parts, p.entries())
		card.Undone, card.ReportedBy = true, nil
		m.Cards = append(m.Cards, Card{Match: p.ID, Notice: card})
	}
	m.Notice = notice
	return m, nil
}

func (m PlayedMatch) has(player PlayerID) bool {
	return slices.ContainsFunc(m.Parts, func(p Part) bool { return p.Player == player })
}
