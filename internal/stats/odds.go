package stats

import (
	"context"
	"math"

	"elobot/internal/ranking"
)

// The kinds of the notices in this file.
const (
	KindOdds  = "odds"
	KindTeams = "teams"
)

// Odds says what to expect of a match, and how it would change the ratings.
type Odds struct {
	Sides    [2][]OddsPlayer `json:"sides"`
	Expected int             `json:"expected"`         // score of the first side, in percent, from 1 to 99
	Draws    bool            `json:"draws,omitempty"`  // the ladder has draws
	Margin   bool            `json:"margin,omitempty"` // a larger margin of victory changes the ratings more; here it is the smallest
}

// OddsPlayer is somebody on a side, with the rating and how it would change.
type OddsPlayer struct {
	Name ranking.Name `json:"name"`
	Elo  int          `json:"elo"`
	Win  int          `json:"win"`
	Lose int          `json:"lose"`
	Draw int          `json:"draw"`
	New  bool         `json:"new,omitempty"` // has not played yet
}

// Kind implements ranking.Notice.
func (Odds) Kind() string { return KindOdds }

// Purpose implements ranking.Notice.
func (Odds) Purpose() ranking.Purpose { return ranking.Answer }

// Alone makes ranking.IsAlone true.
func (Odds) Alone() bool { return true }

// Teams says how players can be divided into two teams, and the odds of these.
type Teams struct {
	Odds
	Split  Split `json:"split"`  // of the players as they were named
	Number int   `json:"number"` // of the split, from 1 for the most even one
	Of     int   `json:"of"`     // how many there are
}

// Kind implements ranking.Notice.
func (Teams) Kind() string { return KindTeams }

// ShowOdds answers with the odds of a match.
func (s *Service) ShowOdds(ctx context.Context, o ranking.Origin, sides ranking.Sides) error {
	return s.answerer.AskAboutMatch(ctx, o, sides, 0, func(l ranking.Ladder, sides [2][]ranking.Contestant) ranking.Notice {
		if len(sides[0]) != len(sides[1]) && !l.UnevenTeamsAllowed {
			return ranking.Refusal{Code: ranking.UnevenTeams}
		}
		return oddsOf(l, sides)
	})
}

// ShowTeams answers with the most even teams of from MinSplit to MaxSplit players, who are all on the first side.
func (s *Service) ShowTeams(ctx context.Context, o ranking.Origin, players ranking.Sides) error {
	return s.answerer.AskAboutMatch(ctx, o, players, 0, teamsOf(1))
}

// TurnTeams shows another split of the same players in the message with the pressed button: the k-th most even one, from 1 to
// Splits.
func (s *Service) TurnTeams(ctx context.Context, o ranking.Origin, message int64, players ranking.Sides, k int) error {
	return s.answerer.AskAboutMatch(ctx, o, players, message, teamsOf(k))
}

// teamsOf returns the answer with the k-th most even teams.
func teamsOf(k int) func(ranking.Ladder, [2][]ranking.Contestant) ranking.Notice {
	return func(l ranking.Ladder, sides [2][]ranking.Contestant) ranking.Notice {
		all := sides[0]
		if len(all)%2 != 0 && !l.UnevenTeamsAllowed {
			return ranking.Refusal{Code: ranking.OddPlayers}
		}
		ratings := make([]int, len(all))
		for i, c := range all {
			ratings[i] = c.Standing.Elo
		}
		split := EvenSplit(ratings, k)
		return Teams{Odds: oddsOf(l, Divide(split, all)), Split: split, Number: k, Of: Splits(len(all))}
	}
}

// oddsOf returns the odds of a match that ends as narrowly as it can.
func oddsOf(l ranking.Ladder, sides [2][]ranking.Contestant) Odds {
	n := Odds{
		Expected: min(99, max(1, int(math.Round(100*ranking.ExpectedScore(sides[0], sides[1]))))),
		Draws:    l.DrawsAllowed, Margin: l.Margin,
	}
	for i, side := range sides {
		for _, c := range side {
			n.Sides[i] = append(n.Sides[i], OddsPlayer{Name: c.Name, Elo: c.Standing.Elo, New: c.IsNew()})
		}
	}
	change := func(score ranking.Score, set func(p *OddsPlayer, side, change int)) {
		changesA, changesB := l.Preview(score, sides[0], sides[1])
		for side, changes := range [2][]int{changesA, changesB} {
			for i, c := range changes {
				set(&n.Sides[side][i], side, c)
			}
		}
	}
	wonBy := func(winner int) func(*OddsPlayer, int, int) {
		return func(p *OddsPlayer, side, change int) {
			if side == winner {
				p.Win = change
			} else {
				p.Lose = change
			}
		}
	}
	change(ranking.Score{A: 1}, wonBy(0))
	change(ranking.Score{B: 1}, wonBy(1))
	change(ranking.Score{}, func(p *OddsPlayer, _, change int) { p.Draw = change })
	return n
}
