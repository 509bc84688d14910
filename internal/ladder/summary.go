package ladder

import (
	"math"

	"elobot/internal/elo"
)

// Counters say how many matches there were, and how they ended.
type Counters struct {
	Played int `json:"played"`
	Won    int `json:"won"`
	Drawn  int `json:"drawn"`
	Lost   int `json:"lost"`
}

// count adds n matches with the given score to the counters; n may be negative.
func (c *Counters) count(score elo.Score, n int) {
	c.Played += n
	switch score {
	case elo.Win:
		c.Won += n
	case elo.Loss:
		c.Lost += n
	default:
		c.Drawn += n
	}
}

// Tally is what a player did in matches, perhaps only those against another player, or together
// with another one.
type Tally struct {
	Counters
	// For and Against are the half points of the player's side and of the other one, in matches
	// that have a score.
	For, Against int
	Gained       int // by how much the player's rating changed
	// Surplus is by how much the player's side scored more than expected, in ten-thousandths of a
	// win.
	Surplus int
}

// add counts a match of the player, in which both sides have players and all have entries.
func (t *Tally) add(m *Match, own Part, surplus int) {
	t.count(m.of(own.Side), 1)
	if m.HasPoints() {
		points := m.From(own.Side)
		t.For += halves(points.A)
		t.Against += halves(points.B)
	}
	t.Gained += own.Entry.After - own.Entry.Before
	t.Surplus += surplus
}

// halves returns the number of half points that points in a Score mean.
func halves(points int) int { return 2*(points%Half) + points/Half }

// Peak is the largest value of a kind, and the first match that reached it; nil for none.
type Peak struct {
	Value int
	In    *Match
}

// reach counts a later match that has reached a value.
func (p *Peak) reach(value int, m *Match) {
	if p.In == nil || value > p.Value {
		*p = Peak{value, m}
	}
}

// Summary is what a player did in matches. The zero value is that of none.
type Summary struct {
	Tally
	Best      Peak // the highest rating after a match
	Streak    Peak // the most wins in a row that a match completed
	Upset     Peak // the largest upset that the player's side won
	Opponents map[PlayerID]*Tally
	Partners  map[PlayerID]*Tally
}

// Add counts a later match, in which the player has a part. The match is complete, and the summary
// keeps it.
func (s *Summary) Add(m *Match, own Part) {
	if s.Opponents == nil {
		s.Opponents, s.Partners = make(map[PlayerID]*Tally), make(map[PlayerID]*Tally)
	}
	surplus := m.surplus(own.Side)
	s.Tally.add(m, own, surplus)
	s.Best.reach(own.Entry.After, m)
	if m.of(own.Side) == elo.Win {
		s.Streak.reach(max(own.Entry.StreakBefore, 0)+1, m)
		if m.Upset > 0 {
			s.Upset.reach(m.Upset, m)
		}
	}
	for _, other := range m.Parts {
		if other.Player == own.Player {
			continue
		}
		with := s.Opponents
		if other.Side == own.Side {
			with = s.Partners
		}
		if with[other.Player] == nil {
			with[other.Player] = new(Tally)
		}
		with[other.Player].add(m, own, surplus)
	}
}

// surplus returns by how much a side scored more than expected, in ten-thousandths of a win.
func (m *Match) surplus(side int) int {
	const win = 10_000
	var ratings [2][]int
	for _, p := range m.Parts {
		ratings[p.Side-1] = append(ratings[p.Side-1], p.Entry.Before)
	}
	of := int(win*m.of(1)) - int(math.Round(win*elo.ExpectedOf(ratings[0], ratings[1])))
	if side == 2 {
		return -of
	}
	return of
}

// SummaryOf returns what a player did in those of the matches that they have a part in. The matches
// are complete, and in the order of their numbers.
func SummaryOf(player PlayerID, matches []Match) Summary {
	var s Summary
	for i := range matches {
		if own := matches[i].PartOf(player); own != nil {
			s.Add(&matches[i], *own)
		}
	}
	return s
}

// SummariesOf returns what each player did in matches, which are complete, and in the order of
// their numbers.
func SummariesOf(matches []Match) map[PlayerID]*Summary {
	all := make(map[PlayerID]*Summary)
	for i := range matches {
		for _, p := range matches[i].Parts {
			if all[p.Player] == nil {
				all[p.Player] = new(Summary)
			}
			all[p.Player].Add(&matches[i], p)
		}
	}
	return all
}
