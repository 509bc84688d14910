// Package plainladder recalculates a whole ladder from its first match, as plainly as possible.
// Tests compare the bot's ladders with the result, so the package shares no code with the bot. Only
// tests and the soak test's judge import it.
package plainladder

import (
	"math"
	"time"
)

// Match is a match that has not been undone. Players are identified by name.
type Match struct {
	Number         int
	A, B           []string
	ScoreA, ScoreB int
	At             time.Time
	Rules
}

// Rules determine how a match changes ratings. The zero value means K 32 for all matches, whatever
// the margin of victory.
type Rules struct {
	K                  int // 0 means 32
	ProvisionalK       int // the K of a player's first ProvisionalMatches matches
	ProvisionalMatches int
	Margin             bool
}

// Standing is a player's rating and counters in a ladder, after the matches played so far. Streak
// counts the latest wins in a row or, if negative, the latest losses in a row.
type Standing struct {
	Who                                                string
	Elo, Start, Best, Played, Won, Drawn, Lost, Streak int
	Longest                                            int
}

// Standings are the standings of all players of a ladder, by name.
type Standings map[string]Standing

// Entry records how a match changed one player's standing. Best, Streak and Longest are the values
// from before the match.
type Entry struct {
	Number                         int
	Who                            string
	Before, After, K, Best, Streak int
	Longest                        int
}

// Ladder is the state of a ladder after all of its matches.
type Ladder struct {
	Standings  Standings
	Entries    []Entry              // within a match, side A comes first
	Upsets     map[int]int          // rating difference by match number
	LastPlayed map[string]time.Time // by player
}

// leastUpset is the smallest rating difference at which a win of the lower-rated side is an upset.
const leastUpset = 100

// Play plays matches in order. Players without a start rating start at 1500.
func Play(starts map[string]int, matches []Match) Ladder {
	l := Ladder{Standings: make(Standings), Upsets: make(map[int]int), LastPlayed: make(map[string]time.Time)}
	for who, start := range starts {
		l.Standings[who] = Standing{Who: who, Elo: start, Start: start, Best: start}
	}
	for _, m := range matches {
		l.Play(m)
	}
	return l
}

// Play applies one more match to the ladder.
func (l *Ladder) Play(m Match) {
	sides := [2][]string{m.A, m.B}
	var average [2]float64
	for side, names := range sides {
		for _, who := range names {
			if _, there := l.Standings[who]; !there {
				l.Standings[who] = Standing{Who: who, Elo: 1500, Start: 1500, Best: 1500}
			}
			if m.At.After(l.LastPlayed[who]) {
				l.LastPlayed[who] = m.At
			}
			average[side] += float64(l.Standings[who].Elo)
		}
		average[side] /= float64(len(names))
	}
	score := 0.5
	if m.ScoreA != m.ScoreB {
		score = float64(max(0, min(1, m.ScoreA-m.ScoreB)))
	}
	winner := 0 // the index of the side that gains
	surplus := score - 1/(1+math.Pow(10, (average[1]-average[0])/400))
	if surplus < 0 {
		winner, surplus = 1, -surplus
	}
	if upset := int(math.Round(average[1-winner] - average[winner])); m.ScoreA != m.ScoreB && upset >= leastUpset {
		l.Upsets[m.Number] = upset
	}
	room := 10_000 // the most points that all players can gain or lose within the range of ratings
	for _, who := range sides[winner] {
		room = min(room, 10_000-l.Standings[who].Elo)
	}
	for _, who := range sides[1-winner] {
		room = min(room, l.Standings[who].Elo)
	}
	for side, names := range sides {
		own, other := m.ScoreA, m.ScoreB
		if side == 1 {
			own, other = other, own
		}
		for _, who := range names {
			before, k := l.Standings[who], m.kOf(l.Standings[who].Played)
			points := int(math.Round(float64(k) * m.goalIndex() * surplus))
			if m.ScoreA != m.ScoreB && points == 0 { // a decided match is worth at least one point
				points = 1
			}
			points = min(room, points)
			if side != winner {
				points = -points
			}
			after := before.play(points, own, other)
			l.Standings[who] = after
			l.Entries = append(l.Entries, Entry{
				m.Number, who, before.Elo, after.Elo, k, before.Best, before.Streak, before.Longest,
			})
		}
	}
}

func (r Rules) kOf(played int) int {
	switch {
	case played < r.ProvisionalMatches:
		return r.ProvisionalK
	case r.K == 0:
		return 32
	}
	return r.K
}

// goalIndex returns the goal difference index of eloratings.net, limited to 2: half more for a
// difference of two goals, three quarters more for three, and an eighth more for each further goal.
// It returns 1 if the margin of victory does not count.
func (m Match) goalIndex() float64 {
	goals := max(m.ScoreA-m.ScoreB, m.ScoreB-m.ScoreA)
	if !m.Margin || goals < 2 {
		return 1
	}
	if goals == 2 {
		return 1 + 1.0/2
	}
	return math.Min(1+3.0/4+float64(goals-3)/8, 2)
}

func (p Standing) play(change, own, other int) Standing {
	p.Elo += change
	p.Best = max(p.Best, p.Elo)
	p.Played++
	switch {
	case own > other:
		p.Won++
		p.Streak = max(0, p.Streak) + 1
		p.Longest = max(p.Longest, p.Streak)
	case own < other:
		p.Lost++
		p.Streak = min(0, p.Streak) - 1
	default:
		p.Drawn++
		p.Streak = 0
	}
	return p
}
