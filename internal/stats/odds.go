package stats

import (
	"context"
	"math"
	"slices"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/notice"
	"elobot/internal/ranking"
)

// Odds shows what to expect of a match, and how it would change the ratings.
type Odds struct {
	Sides    [2][]OddsPlayer `json:"sides"`
	StandIns [2]int          `json:"stand_ins,omitzero"` // as in ranking.NamedResult
	// Expected is the expected score of the first side in percent, from 1 to 99.
	Expected int  `json:"expected"`
	Draws    bool `json:"draws,omitempty"` // the ladder's rules allow draws
	// Season is the number of the ladder's season, 0 for the first one.
	Season int `json:"season,omitempty"`
	// Margin is set if a larger margin of victory changes ratings more. The changes here are for
	// the smallest margin.
	Margin bool `json:"margin,omitempty"`
}

var _ = notice.Register[Odds](notice.Kind{Name: "odds", Purpose: notice.Answer, Alone: true})

// OddsPlayer is a player of a side, with the rating and its possible changes.
type OddsPlayer struct {
	Name ranking.Name `json:"name"`
	Elo  int          `json:"elo"`
	Win  int          `json:"win"`
	Lose int          `json:"lose"`
	Draw int          `json:"draw"`
	New  bool         `json:"new,omitempty"` // the player has not played in the season yet
}

// Teams is one way to divide players into two teams, with the odds.
type Teams struct {
	Odds
	Split  ladder.Split `json:"split"`  // of the players, in the order in which the command names them
	Number int          `json:"number"` // the split's number, from 1 for the most even split
	Of     int          `json:"of"`     // the number of possible splits
	// Picked are the choices made for the unclear names of the command.
	Picked []ladder.PlayerID `json:"picked,omitempty"`
}

var _ = notice.Register[Teams](notice.Kind{Name: "teams", Purpose: notice.Answer, Alone: true})

// OddsCommand is /odds. It asks an OddsQuestion.
type OddsCommand struct{ ofPeople }

func (OddsCommand) meant(said command.Command, a ranking.Asked) (Question, notice.Notice) {
	m, err := command.ParseSides(said, command.NewNames(a.EverybodyThere()))
	if n := unclearLineup(said, err); n != nil {
		return nil, n
	}
	return OddsQuestion{Sides: [2][]command.Person{m.A, m.B}, StandIns: m.StandIns}, nil
}

// unclearLineup turns err, the error from parsing the players of a command, into a notice that says
// what is wrong. It returns nil if nothing is wrong.
func unclearLineup(said command.Command, err error) notice.Notice {
	if n := unclearName(said, err); n != nil {
		return n
	}
	if form, malformed := ranking.WrongFormOf(said, err); malformed {
		return form
	}
	return nil
}

// OddsQuestion asks for the odds of a match between two sides.
type OddsQuestion struct {
	ofPeople
	Sides    [2][]command.Person
	StandIns [2]int // as in command.Match
}

func (q OddsQuestion) answer(_ context.Context, _ *Service, a ranking.Asked) (notice.Notice, error) {
	sides, refusal := contestantsOf(a, q.Sides)
	switch {
	case refusal != nil:
		return refusal, nil
	case len(sides[0])+q.StandIns[0] != len(sides[1])+q.StandIns[1] && !a.Ladder.UnevenTeamsAllowed:
		return ranking.Refusal{Code: ranking.UnevenTeams}, nil
	}
	odds := oddsOf(a.Ladder, sides)
	odds.StandIns = q.StandIns
	return odds, nil
}

// TeamsCommand is /teams, or a button below its answer. It asks a TeamsQuestion.
type TeamsCommand struct {
	ofPeople
	K int // as in a TeamsQuestion; 0 for a typed command
}

func (t TeamsCommand) meant(said command.Command, a ranking.Asked) (Question, notice.Notice) {
	players, err := command.ParsePlayers(said, command.NewNames(a.EverybodyThere()))
	switch n := unclearLineup(said, err); {
	case t.K > 0 && (n != nil || t.K > ladder.Splits(len(players))):
		return nil, ranking.Refusal{Code: ranking.UnknownButton}
	case n != nil:
		return nil, n
	}
	return TeamsQuestion{Players: players, K: max(1, t.K)}, nil
}

// TeamsQuestion asks for the K-th most even split of Players into teams. Players has from
// ladder.MinSplit to ladder.MaxSplit elements, and K is from 1 to ladder.Splits(len(Players)).
type TeamsQuestion struct {
	ofPeople
	Players []command.Person
	K       int
}

func (q TeamsQuestion) answer(_ context.Context, _ *Service, a ranking.Asked) (notice.Notice, error) {
	sides, refusal := contestantsOf(a, [2][]command.Person{q.Players})
	all := sides[0]
	switch {
	case refusal != nil:
		return refusal, nil
	case len(all)%2 != 0 && !a.Ladder.UnevenTeamsAllowed:
		return ranking.Refusal{Code: ranking.OddPlayers}, nil
	}
	ratings := make([]int, len(all))
	for i, c := range all {
		ratings[i] = c.standing.Elo
	}
	split := ladder.EvenSplit(ratings, q.K)
	return Teams{
		Odds: oddsOf(a.Ladder, ladder.Divide(split, all)), Split: split, Number: q.K,
		Of: ladder.Splits(len(all)), Picked: a.Origin.Said.Picked,
	}, nil
}

// contestant is a player in a match that has not been played.
type contestant struct {
	name     ranking.Name
	standing ladder.Standing // a new one for a person without a standing in the ladder
}

// contestantsOf returns the people of two sides as contestants, or a refusal that says why they
// cannot play. It adds no players to the ladder.
func contestantsOf(a ranking.Asked, people [2][]command.Person) (sides [2][]contestant, refusal notice.Notice) {
	var playing []ranking.Known
	for side := range people {
		for _, who := range people[side] {
			shown, k := a.Find(who)
			if shown.MayBeBot() && !k.IsAccount() {
				return sides, ranking.Refusal{Code: ranking.NotAPerson, Name: shown.Username}
			}
			if slices.ContainsFunc(playing, k.IsSame) {
				return sides, ranking.Refusal{Code: ranking.SamePlayer}
			}
			playing = append(playing, k)
			sides[side] = append(sides[side], contestant{ranking.NameOf(shown, k), k.StandingIn(a.Ladder)})
		}
	}
	return sides, nil
}

// oddsOf returns the odds of a match, with each player's rating changes for the narrowest win, the
// narrowest loss and a draw.
func oddsOf(l ranking.Ladder, sides [2][]contestant) Odds {
	n := Odds{Draws: l.DrawsAllowed, Margin: l.Margin}
	if l.Season.Number > 1 {
		n.Season = l.Season.Number
	}
	var standings [2][]ladder.Standing
	for i, side := range sides {
		for _, c := range side {
			standings[i] = append(standings[i], c.standing)
			n.Sides[i] = append(n.Sides[i], OddsPlayer{Name: c.name, Elo: c.standing.Elo, New: c.standing.Played == 0})
		}
	}
	n.Expected = min(99, max(1, int(math.Round(100*ladder.ExpectedScore(standings[0], standings[1])))))
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
