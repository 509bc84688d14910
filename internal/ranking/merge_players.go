package ranking

import (
	"context"
	"slices"
)

// merge merges an unclaimed player into the account of the same person. In ladders that rank both, the account gets the matches of the
// unclaimed player, and the ladder is replayed from the first of them. Matches in which both played are undone. Merging is idempotent and
// not an effect of the command that revealed it.
func (s *Service) merge(ctx context.Context, from, into Player) error {
	s.log.InfoContext(ctx, "merging two players who are the same person", "from_player_id", from.ID, "into_player_id", into.ID)
	merging, ladders, err := s.store.LockPlayers(ctx, from.ID, into.ID)
	if err != nil || merging == nil {
		return err
	}
	defer merging.Release(ctx)
	var merges []LadderMerge
	for _, l := range ladders {
		m, err := l.merge(from)
		if err != nil {
			return err
		}
		merges = append(merges, m)
	}
	return merging.Merge(ctx, merges)
}

// merge combines the two standings in a ladder. The result is the standing of the remaining player, with the start rating of the older
// standing.
func (l SharedLadder) merge(from Player) (LadderMerge, error) {
	keep, drop := l.Into, l.From
	m := LadderMerge{Chat: l.Chat, Season: l.Season, Over: l.Over, Label: l.Label, Drop: drop.Standing}
	if !slices.ContainsFunc(l.MatchHistory.Standings, func(c RankedPlayer) bool { return c.ID == keep.ID }) {
		l.MatchHistory.Standings = append(l.MatchHistory.Standings, keep) // joined, but not played yet
	}
	standings, err := l.MatchHistory.initialStandings()
	if err != nil {
		return m, err
	}
	one := keep.Standing
	if drop.ID < keep.ID {
		one.StartElo = drop.StartElo
	}
	one.LeftAt = keep.Standing.mergedLeftAt(drop.Standing)
	one = one.initial()
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
	notice := PlayersMerged{Username: from.Username, Name: keep.name()}
	var left MatchHistory
	for _, s := range l.MatchHistory.Standings {
		if s.ID != drop.ID {
			left.Standings = append(left.Standings, s)
		}
	}
	notice.Moved = left.moved(m.Rewrite, []PlayerID{keep.Player})
	for _, p := range undone {
		m.Undone = append(m.Undone, p.ID)
		notice.Undone = append(notice.Undone, p.Number)
		stored := &StoredMatch{RecentMatch: RecentMatch{Number: p.Number, Result: p.Result}, SidesSwapped: p.B > p.A}
		card := cardOf(stored, p.Result, p.Parts, p.entries())
		card.Undone, card.ReportedBy = true, nil
		m.Cards = append(m.Cards, Card{Match: p.ID, Notice: card})
	}
	m.Notice = notice
	return m, nil
}

func (m PlayedMatch) has(player PlayerID) bool {
	return slices.ContainsFunc(m.Parts, func(p Part) bool { return p.Player == player })
}
