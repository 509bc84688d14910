package stats

import "math/bits"

// The numbers of players that a Split divides.
const (
	MinSplit = 4
	MaxSplit = 20
)

// Split is a way to divide players into two teams whose sizes differ by at most one: bit i is set if the i-th player is in the
// first team, which has the first player.
type Split uint32

// Has reports whether the i-th player is in the first team.
func (s Split) Has(i int) bool { return s>>i&1 == 1 }

// SplitOf reads a Split of so many players from a number.
func SplitOf(number, players int) (s Split, ok bool) {
	size := bits.OnesCount32(uint32(number))
	valid := players >= MinSplit && players <= MaxSplit && number > 0 && number>>players == 0 && number&1 == 1
	return Split(number), valid && (size == players/2 || size == players-players/2)
}

// Splits returns how many ways there are to divide players.
func Splits(players int) int {
	ways := 1 // to choose the smaller team
	for i := range players / 2 {
		ways = ways * (players - i) / (i + 1)
	}
	if players%2 == 0 { // each way comes twice, with the teams exchanged
		return ways / 2
	}
	return ways
}

// EvenSplit returns the k-th most even way to divide players with these ratings, from 1: by the difference of the teams' average
// ratings, and ties by the number of the Split. It compares all ways. The number of ratings must be from MinSplit to MaxSplit, and
// k from 1 to Splits.
func EvenSplit(ratings []int, k int) Split {
	players := len(ratings)
	total := 0
	for _, r := range ratings {
		total += r
	}
	sums := partialSums(ratings)
	all := make([]uint64, 0, Splits(players)) // the difference, and the number of the split in the lower bits
	for size := players / 2; size <= players-players/2; size++ {
		// every choice of the other members of the first player's team, in the order of their numbers
		last := uint32(1) << (players - 1)
		for others := uint32(1)<<(size-1) - 1; others < last; others = nextChoice(others) {
			number := others<<1 | 1
			sum := sums[0][number&halfMask] + sums[1][number>>halfBits]
			// both averages, times the sizes of both teams: whole numbers compare exactly
			difference := sum*(players-size) - (total-sum)*size
			all = append(all, uint64(max(difference, -difference))<<32|uint64(number))
		}
	}
	return Split(uint32(smallest(all, k)))
}

// smallest returns the k-th smallest of different numbers, from 1. It changes their order.
func smallest(all []uint64, k int) uint64 {
	for {
		middle := len(all) / 2
		pivot := all[middle]
		all[middle] = all[0]
		rest, below := all[1:], 0
		for i, n := range rest {
			if n < pivot {
				rest[i], rest[below] = rest[below], n
				below++
			}
		}
		switch {
		case k <= below:
			all = rest[:below]
		case k == below+1:
			return pivot
		default:
			all, k = rest[below:], k-below-1
		}
	}
}

const (
	halfBits = MaxSplit / 2
	halfMask = 1<<halfBits - 1
)

// partialSums returns the sums of the ratings of all choices among the first halfBits players, and among the others.
func partialSums(ratings []int) (sums [2][1 << halfBits]int) {
	for half := range sums {
		of := ratings[min(half*halfBits, len(ratings)):min((half+1)*halfBits, len(ratings))]
		for choice := 1; choice < 1<<len(of); choice++ {
			lowest := bits.TrailingZeros(uint(choice))
			sums[half][choice] = sums[half][choice&(choice-1)] + of[lowest]
		}
	}
	return sums
}

// nextChoice returns the next larger number with as many bits set.
func nextChoice(n uint32) uint32 {
	lowest := n & -n
	carried := n + lowest
	return carried | (n^carried)/lowest>>2
}
