package judge

import "math"

// The start rating, and the K-factor.
const (
	startElo = 1500
	kFactor  = 32
)

// ladder is a simple Elo ranking in memory, by player's name.
type ladder map[string]Standing

func (l ladder) standing(name string) Standing {
	if s, ok := l[name]; ok {
		return s
	}
	return Standing{Elo: startElo}
}

// gain returns what the first of two players gains with a score of 1, ½ or 0. A decided match
// always moves at least a point.
func gain(first, second int, score float64) int {
	expected := 1 / (1 + math.Pow(10, float64(second-first)/400))
	change := int(math.Round(kFactor * (score - expected)))
	switch {
	case change == 0 && score == 1:
		return 1
	case change == 0 && score == 0:
		return -1
	}
	return change
}

func (l ladder) play(g Game) {
	a, b := l.standing(g.Players[0]), l.standing(g.Players[1])
	score := 0.5
	switch {
	case g.Score[0] > g.Score[1]:
		score = 1
		a.Won++
		b.Lost++
	case g.Score[0] < g.Score[1]:
		score = 0
		a.Lost++
		b.Won++
	default:
		a.Drawn++
		b.Drawn++
	}
	change := gain(a.Elo, b.Elo, score)
	a.Elo += change
	b.Elo -= change
	l[g.Players[0]], l[g.Players[1]] = a, b
}
