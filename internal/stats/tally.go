package stats

import (
	"math"
	"time"

	"elobot/internal/elo"
	"elobot/internal/ranking"
)

// CountedMatch is a match that counts, as it is stored.
type CountedMatch struct {
	ID       ranking.MatchID
	Number   int
	PlayedAt time.Time
	Score    ranking.Score
	Parts    []CountedPart
}

// CountedPart is a player's part in a match, with the ratings before and after it.
type CountedPart struct {
	Player        ranking.PlayerID
	Side          int // 1 is A, 2 is B
	Before, After int
	StreakBefore  int // wins in a row, or losses in a row as a negative number
}

// MonthKey identifies what a player did in a month.
type MonthKey struct {
	Player ranking.PlayerID
	Month  time.Time // see ranking.MonthOf
}

// Results counts matches.
type Results struct{ Played, Won, Drawn, Lost int }

// PlayerMonth is what a player did in a month.
type PlayerMonth struct {
	Results
	Best   Peak // the highest rating after a match
	Streak Peak // the most wins in a row that a match completed
	Upset  Peak // by how much the rating of the side that the player's side beat exceeded its own
}

// Peak is the largest value of a kind, and the first match that reached it. Both are 0 if there is none.
type Peak struct {
	Value int
	Match ranking.MatchID
}

// reach counts a later match that has reached a value.
func (r *Peak) reach(value int, match ranking.MatchID) {
	if r.Match == 0 || value > r.Value {
		*r = Peak{value, match}
	}
}

// PairKey identifies what a player did against another one in a month, or together with another one on the same side.
type PairKey struct {
	MonthKey
	Other    ranking.PlayerID
	Together bool
}

// Pair is what a player did against another one, or together with another one.
type Pair struct {
	Results
	PointsFor, PointsAgainst int // the scores of the player's side and of the other one
	Gained                   int // by how much the player's rating changed
	Surplus                  int // by how much the player's side scored more than expected, in ten-thousandths of a win
}

// Tallies hold what players did in months.
type Tallies struct {
	Months map[MonthKey]*PlayerMonth
	Pairs  map[PairKey]*Pair
}

// NewTallies returns tallies of no matches.
func NewTallies() Tallies {
	return Tallies{make(map[MonthKey]*PlayerMonth), make(map[PairKey]*Pair)}
}

// Add counts a match for those of its players that are wanted. Matches must be added in the order of their numbers.
func (t Tallies) Add(m *CountedMatch, wanted func(MonthKey) bool) {
	sides := m.sides()
	month, upset := ranking.MonthOf(m.PlayedAt), ranking.Upset(m.Score, sides)
	expected := int(math.Round(scoreUnit * elo.ExpectedOf(sides[0], sides[1]))) // of side A
	for i := range m.Parts {
		p := &m.Parts[i]
		key := MonthKey{p.Player, month}
		if !wanted(key) {
			continue
		}
		one := pairOf(m.Score, p, expected)
		month := entry(t.Months, key)
		month.add(one.Results)
		month.Best.reach(p.After, m.ID)
		if one.Won > 0 {
			month.Streak.reach(max(p.StreakBefore, 0)+1, m.ID)
		}
		if one.Won > 0 && upset > 0 {
			month.Upset.reach(upset, m.ID)
		}
		for j := range m.Parts {
			if o := &m.Parts[j]; i != j {
				entry(t.Pairs, PairKey{key, o.Player, o.Side == p.Side}).add(one)
			}
		}
	}
}

// Totals returns the pairs of all months together, under a zero month.
func (t Tallies) Totals() map[PairKey]*Pair {
	totals := make(map[PairKey]*Pair)
	for key, p := range t.Pairs {
		key.Month = time.Time{}
		entry(totals, key).add(*p)
	}
	return totals
}

// pairOf returns one match as a player counts it against each other player. The expected score is that of side A, in the unit of
// Pair.Surplus.
func pairOf(s ranking.Score, p *CountedPart, expectedOfA int) Pair {
	own, other, expected := s.A, s.B, expectedOfA
	if p.Side == 2 {
		own, other, expected = s.B, s.A, scoreUnit-expectedOfA
	}
	one := Pair{Results: Results{Played: 1}, PointsFor: own, PointsAgainst: other, Gained: p.After - p.Before}
	score := elo.ScoreOf(own, other)
	switch score {
	case elo.Win:
		one.Won = 1
	case elo.Loss:
		one.Lost = 1
	default:
		one.Drawn = 1
	}
	one.Surplus = int(score*scoreUnit) - expected
	return one
}

// scoreUnit is a win in the unit of Pair.Surplus.
const scoreUnit = 10_000

// HasBothSides reports whether both sides have players.
func (m *CountedMatch) HasBothSides() bool {
	sides := m.sides()
	return len(sides[0]) > 0 && len(sides[1]) > 0
}

// sides returns the ratings of the players of each side before the match.
func (m *CountedMatch) sides() (sides [2][]int) {
	for _, p := range m.Parts {
		sides[p.Side-1] = append(sides[p.Side-1], p.Before)
	}
	return sides
}

func (r *Results) add(o Results) {
	r.Played += o.Played
	r.Won += o.Won
	r.Drawn += o.Drawn
	r.Lost += o.Lost
}

func (p *Pair) add(o Pair) {
	p.Results.add(o.Results)
	p.PointsFor += o.PointsFor
	p.PointsAgainst += o.PointsAgainst
	p.Gained += o.Gained
	p.Surplus += o.Surplus
}

// entry returns the value of a key, and adds an empty one if there is none.
func entry[K comparable, V any](all map[K]*V, key K) *V {
	v := all[key]
	if v == nil {
		v = new(V)
		all[key] = v
	}
	return v
}
