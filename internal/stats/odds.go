package stats

import (
	"math"

	"elobot/internal/ladder"
	"elobot/internal/notice"
	"elobot/internal/ranking"
)

// Odds says what to expect of a match, and how it would change the ratings.
type Odds struct {
	Sides    [2][]OddsPlayer `json:"sides"`
	Expected int             `json:"expected"`         // score of the first side, in percent, from 1 to 99
	Draws    bool            `json:"draws,omitempty"`  // the ladder has draws
	Season   int             `json:"season,omitempty"` // the number of the ladder's season, 0 for the first one
	Margin   bool            `json:"margin,omitempty"` // a larger margin of victory changes the ratings more; here it is the smallest
}

var _ = notice.Register[Odds](notice.Kind{Name: "odds", Purpose: notice.Answer, Alone: true})

// OddsPlayer is somebody on a side, with the rating and how it would change.
type OddsPlayer struct {
	Name ranking.Name `json:"name"`
	Elo  int          `json:"elo"`
	Win  int          `json:"win"`
	Lose int          `json:"lose"`
	Draw int          `json:"draw"`
	New  bool         `json:"new,omitempty"` // has not played in the season yet
}

// Teams says how players can be divided into two teams, and the odds of these.
type Teams struct {
	Odds
	Split  Split `json:"split"`  // of the players as they were named
	Number int   `json:"number"` // of the split, from 1 for the most even one
	Of     int   `json:"of"`     // how many there are
	// Picked are the players whom the unclear names of the command mean.
	Picked []ladder.PlayerID `json:"picked,omitempty"`
}

var _ = notice.Register[Teams](notice.Kind{Name: "teams", Purpose: notice.Answer, Alone: true})

// OddsQuery asks for the odds of a match between two sides.
type OddsQuery struct{ Sides ranking.Sides }

func (q OddsQuery) inquiry(*Service, ranking.Origin) ranking.Inquiry {
	return ranking.AskAboutMatch(q.Sides, func(l ranking.Ladder, sides [2][]ranking.Contestant) notice.Notice {
		if len(sides[0]) != len(sides[1]) && !l.UnevenTeamsAllowed {
			return ranking.Refusal{Code: ranking.UnevenTeams}
		}
		return oddsOf(l, sides)
	})
}

// TeamsQuery asks for the k-th most even teams of from MinSplit to MaxSplit players, who are all on the first side. K is from 1 to Splits.
type TeamsQuery struct {
	Players ranking.Sides
	K       int
	Picked  []ladder.PlayerID // the players whom the unclear names of the command mean
}

func (q TeamsQuery) inquiry(*Service, ranking.Origin) ranking.Inquiry {
	return ranking.AskAboutMatch(q.Players, func(l ranking.Ladder, sides [2][]ranking.Contestant) notice.Notice {
		all := sides[0]
		if len(all)%2 != 0 && !l.UnevenTeamsAllowed {
			return ranking.Refusal{Code: ranking.OddPlayers}
		}
		ratings := make([]int, len(all))
		for i, c := range all {
			ratings[i] = c.Standing.Elo
		}
		split := EvenSplit(ratings, q.K)
		return Teams{Odds: oddsOf(l, Divide(split, all)), Split: split, Number: q.K, Of: Splits(len(all)), Picked: q.Picked}
	})
}

// oddsOf returns the odds of a match that ends as narrowly as it can.
func oddsOf(l ranking.Ladder, sides [2][]ranking.Contestant) Odds {
	var standings [2][]ladder.Standing
	for i, side := range sides {
		for _, c := range side {
			standings[i] = append(standings[i], c.Standing)
		}
	}
	n := Odds{
		Expected: min(99, max(1, int(math.Round(100*ladder.ExpectedScore(standings[0], standings[1]))))),
		Draws:    l.DrawsAllowed, Margin: l.Margin,
	}
	if l.Season.Number > 1 {
		n.Season = l.Season.Number
	}
	for i, side := range sides {
		for _, c := range side {
			n.Sides[i] = append(n.Sides[i], OddsPlayer{Name: c.Name, Elo: c.Standing.Elo, New: c.IsNew()})
		}
	}
	for winner, score := range []ladder.Score{{A: 1}, {B: 1}, {}} {
		for side, changes := range l.Preview(score, standings) {
			for i, change := range changes {
				switch p := &n.Sides[side][i]; {
				case score == ladder.Score{}:
					p.Draw = change
				case side == winner:
					p.Win = change
				default:
					p.Lose = change
				}
			}
		}
	}
	return n
}
