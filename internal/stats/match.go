package stats

import (
	"math"
	"slices"

	"elobot/internal/elo"
	"elobot/internal/ladder"
	"elobot/internal/ranking"
)

// Match is a match that counts.
type Match struct {
	MatchRef
	Score ladder.Score
	Parts []Part // each side in the order of its places
}

// Part is a player's part in a match.
type Part struct {
	Player        ladder.PlayerID
	Side          int // 1 is A, 2 is B
	Before, After int // the rating
	StreakBefore  int // wins in a row, or losses in a row as a negative number
}

// peak is the largest value of a kind, and the first match that reached it; nil for none.
type peak struct {
	value int
	match *Match
}

// reach counts a later match that has reached a value.
func (p *peak) reach(value int, m *Match) {
	if p.match == nil || value > p.value {
		*p = peak{value, m}
	}
}

// pair is what a player did against another one, or together with another one.
type pair struct {
	played, won, drawn, lost int
	pointsFor, pointsAgainst int // the points of the player's side and of the other one, in matches that have a score
	halves                   int // half points of both sides, beside the others
	gained                   int // by how much the player's rating changed
	surplus                  int // by how much the player's side scored more than expected, in ten-thousandths of a win
}

// summary is what a player did in matches.
type summary struct {
	pair           // all of them as one
	best      peak // the highest rating after a match
	streak    peak // the most wins in a row that a match completed
	upset     peak // by how much the rating of the side that the player's side beat exceeded its own, ladder.MinUpset or more
	opponents map[ladder.PlayerID]*pair
	partners  map[ladder.PlayerID]*pair
}

func newSummary() *summary {
	return &summary{opponents: make(map[ladder.PlayerID]*pair), partners: make(map[ladder.PlayerID]*pair)}
}

// summaryOf returns what a player did in their matches, which are in the order of their numbers.
func summaryOf(player ladder.PlayerID, matches []Match) *summary {
	s := newSummary()
	for i := range matches {
		s.add(&matches[i], matches[i].partOf(player))
	}
	return s
}

// summariesOf returns what each player did in matches, which are in the order of their numbers.
func summariesOf(matches []Match) map[ladder.PlayerID]*summary {
	all := make(map[ladder.PlayerID]*summary)
	for i := range matches {
		for _, p := range matches[i].Parts {
			if all[p.Player] == nil {
				all[p.Player] = newSummary()
			}
			all[p.Player].add(&matches[i], p)
		}
	}
	return all
}

// add counts a later match of the player.
func (s *summary) add(m *Match, own Part) {
	one := m.pairOf(own)
	s.pair.add(one)
	s.best.reach(own.After, m)
	if one.won > 0 {
		s.streak.reach(max(own.StreakBefore, 0)+1, m)
		if upset := ladder.Upset(m.Score, m.ratings()); upset >= ladder.MinUpset {
			s.upset.reach(upset, m)
		}
	}
	for _, other := range m.Parts {
		if other.Player == own.Player {
			continue
		}
		with := s.opponents
		if other.Side == own.Side {
			with = s.partners
		}
		if with[other.Player] == nil {
			with[other.Player] = new(pair)
		}
		with[other.Player].add(one)
	}
}

// scoreUnit is a win in the unit of pair.surplus.
const scoreUnit = 10_000

// pairOf returns the match as one of its players counts it against each other one.
func (m *Match) pairOf(own Part) pair {
	sides := m.ratings()
	expected := int(math.Round(scoreUnit * elo.ExpectedOf(sides[0], sides[1]))) // of side A
	points := m.scoreOf(own)
	if own.Side == 2 {
		expected = scoreUnit - expected
	}
	one := pair{played: 1, gained: own.After - own.Before}
	if m.Score.HasPoints() {
		one.halves = points[0] / ladder.Half
		one.pointsFor, one.pointsAgainst = points[0]%ladder.Half, points[1]%ladder.Half
	}
	score := elo.ScoreOf(points[0], points[1])
	switch score {
	case elo.Win:
		one.won = 1
	case elo.Loss:
		one.lost = 1
	default:
		one.drawn = 1
	}
	one.surplus = int(score*scoreUnit) - expected
	return one
}

// HasBothSides is true if both sides have players.
func (m *Match) HasBothSides() bool {
	sides := m.ratings()
	return len(sides[0]) > 0 && len(sides[1]) > 0
}

// playedBy returns the matches in which all of these players have a part.
func playedBy(matches []Match, players ...ladder.PlayerID) (played []Match) {
	for _, m := range matches {
		takesPart := func(player ladder.PlayerID) bool {
			return slices.ContainsFunc(m.Parts, func(p Part) bool { return p.Player == player })
		}
		if !slices.ContainsFunc(players, func(p ladder.PlayerID) bool { return !takesPart(p) }) {
			played = append(played, m)
		}
	}
	return played
}

// isOfTeams reports whether one of the sides has more than one player.
func (m *Match) isOfTeams() bool { return len(m.Parts) > 2 }

// ratings returns the ratings of the players of each side before the match.
func (m *Match) ratings() (sides [2][]int) {
	for _, p := range m.Parts {
		sides[p.Side-1] = append(sides[p.Side-1], p.Before)
	}
	return sides
}

// scoreOf returns the score from the view of a player.
func (m *Match) scoreOf(own Part) [2]int {
	if own.Side == 2 {
		return [2]int{m.Score.B, m.Score.A}
	}
	return [2]int{m.Score.A, m.Score.B}
}

// partOf returns the part of a player.
func (m *Match) partOf(player ladder.PlayerID) Part {
	return m.Parts[slices.IndexFunc(m.Parts, func(p Part) bool { return p.Player == player })]
}

// opponentsOf returns who played against a player.
func (m *Match) opponentsOf(player ladder.PlayerID) (names []ranking.Name) {
	side := m.partOf(player).Side
	for _, p := range m.Parts {
		if p.Side != side {
			names = append(names, ranking.Name{Player: p.Player})
		}
	}
	return names
}

// lastMatches returns the last matches of a player, the last one first.
func lastMatches(matches []Match, player ladder.PlayerID, limit int) []PlayedMatch {
	var last []PlayedMatch
	for _, m := range slices.Backward(matches[max(0, len(matches)-limit):]) {
		own := m.partOf(player)
		last = append(last, PlayedMatch{
			MatchRef: m.MatchRef, Against: m.opponentsOf(player), Score: m.scoreOf(own), Change: own.After - own.Before, Teams: m.isOfTeams(),
		})
	}
	return last
}

func (p *pair) add(o pair) {
	p.played += o.played
	p.won += o.won
	p.drawn += o.drawn
	p.lost += o.lost
	p.pointsFor += o.pointsFor
	p.pointsAgainst += o.pointsAgainst
	p.halves += o.halves
	p.gained += o.gained
	p.surplus += o.surplus
}
