package ladder

import (
	"cmp"
	"math/bits"
	"slices"
)

// The smallest and the largest number of players that can be split.
const (
	MinSplit = 4
	MaxSplit = 20
)

// Split is a way to divide players into two teams whose sizes differ by at most one. If the i-th
// player, from 0, is in the first team, bit i is set. The first player is always in the first team.
type Split uint32

// Has reports whether the i-th player is in the first team.
func (s Split) Has(i int) bool { return s>>i&1 == 1 }

// Divide returns the first and the second team of a split of players.
func Divide[P any](s Split, players []P) (teams [2][]P) {
	for i, p := range players {
		team := 1
		if s.Has(i) {
			team = 0
		}
		teams[team] = append(teams[team], p)
	}
	return teams
}

// SplitOf converts number to a Split. ok is false if number is not a split of that many players.
func SplitOf(number, players int) (s Split, ok bool) {
	size := bits.OnesCount32(uint32(number))
	valid := players >= MinSplit && players <= MaxSplit && number > 0 && number>>players == 0 && number&1 == 1
	return Split(number), valid && (size == players/2 || size == players-players/2)
}

// Splits returns the number of ways to split that many players.
func Splits(players int) int {
	ways := 1 // ways to choose the smaller team
	for i := range players / 2 {
		ways = ways * (players - i) / (i + 1)
	}
	if players%2 == 0 { // each way was counted twice, once with the teams exchanged
		return ways / 2
	}
	return ways
}

// EvenSplit returns the k-th most even way, counted from 1, to split players with these ratings.
// The ways are ordered by the difference between the teams' average ratings, and then by the
// numeric value of the Split. EvenSplit tries all ways. The number of ratings must be from MinSplit
// to MaxSplit, and k from 1 to the result of Splits.
func EvenSplit(ratings []int, k int) Split {
	type way struct {
		difference int
		split      Split
	}
	players, total := len(ratings), 0
	for _, r := range ratings {
		total += r
	}
	all := make([]way, 0, Splits(players))
	for number := 1; number < 1<<players; number += 2 { // the first team has the first player
		split, ok := SplitOf(number, players)
		if !ok {
			continue
		}
		size, sum := bits.OnesCount32(uint32(number)), 0
		for i, r := range ratings {
			if split.Has(i) {
				sum += r
			}
		}
		// Compare whole numbers, which are exact: the averages multiplied by both team sizes.
		difference := sum*(players-size) - (total-sum)*size
		all = append(all, way{max(difference, -difference), split})
	}
	slices.SortFunc(all, func(a, b way) int {
		return cmp.Or(cmp.Compare(a.difference, b.difference), cmp.Compare(a.split, b.split))
	})
	return all[k-1].split
}
