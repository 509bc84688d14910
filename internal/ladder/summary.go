package ladder

import (
	"math"

	"elobot/internal/elo"
)

// Counters count matches by outcome.
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

// Tally sums up matches of a player: all of them, or only the matches against or with one other
// player.
type Tally struct {
	Counters
	// For and Against are the half points of the player's side and of the other side. Matches
	// without points add nothing.
	For, Against int
	Gained       int // the sum of the player's rating changes
	// Surplus is the sum of the scores of the player's side minus the sum of its expected scores,
	// in ten-thousandths of a win.
	Surplus int
}

// add adds a complete match to the tally. own is the player's part, and surplus is the surplus of
// the player's side.
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

// halves converts the points of one side in a Score to half points.
func halves(points int) int { return 2*(points%Half) + points/Half }

// Peak is the largest value of its kind, and the first match that reached it. In is nil if no match
// has reached a value.
type Peak struct {
	Value int
	In    *Match
}

// reach updates the peak with the value that m reached. Calls must follow the order of the matches.
func (p *Peak) reach(value int, m *Match) {
	if p.In == nil || value > p.Value {
		*p = Peak{value, m}
	}
}

// Summary is a player's achievements in a set of matches. The zero value is the summary of no
// matches.
type Summary struct {
	Tally
	Best      Peak // the highest rating after a match
	Streak    Peak // the longest run of wins, which may have begun before these matches, and its last match
	Upset     Peak // the largest upset won by the player's side
	Opponents map[PlayerID]*Tally
	Partners  map[PlayerID]*Tally
}

// Add adds the match m to the summary. own is the player's part in it. The match must be complete,
// and later than the matches added before. The summary retains m.
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

// surplus returns the score of a side minus its expected score, in ten-thousandths of a win.
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

// SummaryOf returns a player's achievements in their matches among the given ones. The matches must
// be complete and ordered by position.
func SummaryOf(player PlayerID, matches []Match) Summary {
	var s Summary
	for i := range matches {
		if own := matches[i].PartOf(player); own != nil {
			s.Add(&matches[i], *own)
		}
	}
	return s
}

// SummariesOf returns each player's achievements in the matches, which must be complete and ordered
// by position.
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
