package ranking

import (
	"context"
	"slices"

	"elobot/internal/ladder"
)

// merge merges an unclaimed player (from) into the account of the same person (into). Each season
// in which both players have a standing is replayed from the first match of either player. The
// matches of both then count for the account, except matches in which both took part, which are
// undone. merge changes nothing if the unclaimed player has already been claimed or merged.
func (s *Service) merge(ctx context.Context, from, into Player) error {
	s.log.InfoContext(ctx, "merging two players who are the same person",
		"from_player_id", from.ID, "into_player_id", into.ID)
	merging, ladders, err := s.store.LockPlayers(ctx, from.ID, into.ID)
	if err != nil || merging == nil {
		return err
	}
	defer merging.Release(ctx)
	var merges []LadderMerge
	for _, l := range ladders {
		m, err := l.merge(from, into.ID)
		if err != nil {
			return err
		}
		merges = append(merges, m)
	}
	return merging.Merge(ctx, merges)
}

// merge returns the changes that combine two players' standings in a season. Only the account keeps
// its standing, which gets the start rating of the older of the two standings.
func (l SharedLadder) merge(from Player, into ladder.PlayerID) (LadderMerge, error) {
	of := func(player ladder.PlayerID) ladder.Standing {
		isOf := func(s ladder.RankedPlayer) bool { return s.Player == player }
		return l.History.Standings[slices.IndexFunc(l.History.Standings, isOf)].Standing
	}
	keep, drop := of(into), of(from.ID)
	m := LadderMerge{SharedLadder: l, Drop: drop}
	standings, err := l.History.Initial()
	if err != nil {
		return m, err
	}
	one := keep
	if drop.ID < keep.ID {
		one.StartElo = drop.StartElo
	}
	one.LeftAt = keep.MergedLeftAt(drop)
	one = one.Initial()
	delete(standings, drop.Player)
	standings[keep.Player] = &one
	var undone []ladder.Match
	m.Rewrite, err = l.History.ReplayFrom(standings, ladder.ByMerge, func(p *ladder.Match) {
		if p.Undone {
			return
		}
		if p.Has(keep.Player) && p.Has(drop.Player) {
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
	notice := PlayersMerged{Username: from.Username, Name: Name{Player: into}}
	isDropped := func(s ladder.RankedPlayer) bool { return s.ID == drop.ID }
	left := ladder.History{Standings: slices.DeleteFunc(slices.Clone(l.History.Standings), isDropped)}
	notice.Moved = moved(left, m.Rewrite, []ladder.PlayerID{into})
	for _, p := range undone {
		m.Undone = append(m.Undone, p.ID)
		notice.Undone = append(notice.Undone, p.Number)
		card := cardOf(RecentMatch{Number: p.Number}, p.Result, p.B > p.A, p.Parts, p.Entries())
		card.Undone, card.Changes, card.Tag, card.ReportedBy = true, 1, "", nil
		m.Cards = append(m.Cards, Card{Match: p.ID, Notice: card})
	}
	m.Notice = notice
	return m, nil
}
