package stats

import (
	"slices"

	"elobot/internal/ladder"
	"elobot/internal/ranking"
)

func refOf(m *ladder.Match) MatchRef { return MatchRef{Number: m.Number, At: m.PlayedAt} }

// scoreFor returns the score of a match from a side's point of view, that side's score first.
func scoreFor(m *ladder.Match, side int) [2]int {
	score := m.From(side)
	return [2]int{score.A, score.B}
}

// isOfTeams reports whether one of the sides of a match has more than one player or stand-in.
func isOfTeams(m *ladder.Match) bool { return len(m.Parts) > 2 || m.StandIns != [2]int{} }

// opponentsOf returns the players who are not on the given side.
func opponentsOf(m *ladder.Match, side int) (names []ranking.Name) {
	for _, p := range m.Parts {
		if p.Side != side {
			names = append(names, ranking.Name{Player: p.Player})
		}
	}
	return names
}

// upsetOf returns the upset in which a player reached the peak p, or nil if p has no match.
func upsetOf(p ladder.Peak, player ladder.PlayerID) *Upset {
	if p.In == nil {
		return nil
	}
	return &Upset{MatchRef: refOf(p.In), By: p.Value, Beaten: opponentsOf(p.In, p.In.PartOf(player).Side)}
}

// lastMatches returns up to limit of a player's last matches, newest first. It requires the matches
// to be ordered by position.
func lastMatches(matches []ladder.Match, player ladder.PlayerID, limit int) (last []PlayedMatch) {
	for _, m := range slices.Backward(matches) {
		own := m.PartOf(player)
		switch {
		case own == nil:
			continue
		case len(last) == limit:
			return last
		}
		last = append(last, PlayedMatch{
			MatchRef: refOf(&m), Against: opponentsOf(&m, own.Side), Score: scoreFor(&m, own.Side),
			Change: own.Entry.After - own.Entry.Before, Teams: isOfTeams(&m),
		})
	}
	return last
}
