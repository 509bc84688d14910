package ranking

import (
	"slices"

	"elobot/internal/ladder"
	"elobot/internal/transfer"
)

// StartRating is a start rating that an import sets.
type StartRating struct {
	Player   ladder.PlayerID // of the standing
	Old, New int
}

// FoundStart is the start rating of a standing without the import that set it.
type FoundStart struct {
	Standing ladder.StandingID
	Season   ladder.SeasonID
	Start    int
}

// newStarts returns the import of a file of start ratings, nil if none of them changes.
func (p *planned) newStarts() (*NewImport, error) {
	season := p.snap.Ladder.Season
	if season.endsBefore(p.file.At) {
		return nil, ErrSeasonOver
	}
	w := ladder.Rewrite{Season: season.ID, Reason: ladder.ByMatch}
	n := &NewImport{
		ImportChanges: ImportChanges{Group: p.snap.Group, Number: p.before.Import},
		Ladder:        p.snap.Ladder.ID, Secret: p.before.Secret,
	}
	seen := make(map[ladder.PlayerID]bool)
	for _, s := range p.file.Starts {
		person := p.named.index[s.Player]
		if person < 0 {
			p.report.Away = append(p.report.Away, s.Line)
			continue
		}
		k := p.snap.People[person]
		if k.Player == nil {
			continue // refused
		}
		refuse := func(reason transfer.Reason) {
			p.report.Refused = append(p.report.Refused, transfer.Fault{Line: s.Line, Reason: reason, Value: s.Player})
		}
		standing := k.StandingIn(p.snap.Ladder)
		switch {
		case seen[standing.Player]:
			refuse(transfer.SamePerson)
		case standing.ID != 0 && standing.StartElo == s.Rating:
			p.report.Known = append(p.report.Known, s.Line)
		case standing.Played > 0:
			refuse(transfer.HasPlayed)
		default:
			n.Starts = append(n.Starts, StartRating{Player: standing.Player, Old: standing.StartElo, New: s.Rating})
			standing.Elo, standing.StartElo, standing.BestElo = s.Rating, s.Rating, s.Rating
			w.Standings = append(w.Standings, standing)
		}
		seen[standing.Player] = true
	}
	slices.SortStableFunc(p.report.Refused, byLine)
	p.report.NotAgain = slices.Sorted(slices.Values(p.file.Again))
	n.Rewrites = []ladder.Rewrite{w}
	n.People = p.newPlayers(n)
	p.report.Starts, p.report.Players = len(n.Starts), len(n.People)
	if len(n.Starts) == 0 {
		n = nil
	}
	return n, nil
}
