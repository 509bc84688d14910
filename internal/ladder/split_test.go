package ladder_test

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"elobot/internal/ladder"
	"elobot/internal/rapidtest"
)

func TestMain(m *testing.M) {
	rapidtest.Same(60)
	m.Run()
}

// division is a way to divide players into two teams.
type division struct {
	team       []int    // the indexes of the first team's players, in order
	difference *big.Rat // between the teams' average ratings
}

// divisions returns all ways to divide players that a Split allows, most even first. For two
// equally even ways, the last player whose team differs decides: the way with this player in the
// second team comes first.
func divisions(ratings []int) []division {
	var all []division
	var divide func(player int, first, second []int)
	divide = func(player int, first, second []int) {
		if player < len(ratings) {
			divide(player+1, append(slices.Clone(first), player), second)
			divide(player+1, first, append(slices.Clone(second), player))
			return
		}
		if apart := len(first) - len(second); apart < -1 || apart > 1 || len(first) == 0 || first[0] != 0 {
			return
		}
		difference := new(big.Rat).Sub(mean(ratings, first), mean(ratings, second))
		all = append(all, division{first, difference.Abs(difference)})
	}
	divide(0, nil, nil)
	slices.SortFunc(all, func(a, b division) int {
		return cmp.Or(a.difference.Cmp(b.difference),
			slices.Compare(reversed(a.team, len(ratings)), reversed(b.team, len(ratings))))
	})
	return all
}

func mean(ratings, team []int) *big.Rat {
	sum := 0
	for _, player := range team {
		sum += ratings[player]
	}
	return big.NewRat(int64(sum), int64(len(team)))
}

// reversed returns, for each player from the last to the first, 1 if the player is in team and 0 if
// not.
func reversed(team []int, players int) []int {
	in := make([]int, players)
	for _, player := range team {
		in[players-1-player] = 1
	}
	return in
}

// TestEvenSplit checks that EvenSplit orders the splits of four to nine players as an exhaustive
// search does.
func TestEvenSplit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rating := rapid.OneOf(rapid.IntRange(0, 10_000), rapid.SampledFrom([]int{0, 1500, 1501, 10_000}))
		ratings := rapid.SliceOfN(rating, ladder.MinSplit, 9).Draw(t, "ratings")
		want := divisions(ratings)
		if n := ladder.Splits(len(ratings)); n != len(want) {
			t.Fatalf("there are %d ways to divide %d players, want %d", n, len(ratings), len(want))
		}
		for i, w := range want {
			split := ladder.EvenSplit(ratings, i+1)
			var team []int
			for player := range ratings {
				if split.Has(player) {
					team = append(team, player)
				}
			}
			if !slices.Equal(team, w.team) {
				t.Fatalf("%v: number %d is %v, want %v", ratings, i+1, team, w.team)
			}
			if same, ok := ladder.SplitOf(int(split), len(ratings)); !ok || same != split {
				t.Fatalf("%d is no split of %d players", split, len(ratings))
			}
		}
	})
}

func TestSplitOf(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		number, players int
		want            bool
	}{
		{0b0011, 4, true}, {0b1001, 4, true}, {0b00011, 5, true}, {0b10101, 5, true}, {1<<10 - 1, 20, true},
		{0, 4, false}, {-1, 4, false}, {0b0110, 4, false}, {0b0001, 4, false}, {0b0111, 4, false}, {0b10001, 4, false}, {0b1111, 5, false},
		{0b11, 3, false}, {1<<11 - 1, 21, false}, {1 << 30, 20, false},
	} {
		if _, ok := ladder.SplitOf(tc.number, tc.players); ok != tc.want {
			t.Errorf("%b of %d players: %t", tc.number, tc.players, ok)
		}
	}
	if n := ladder.Splits(20); n != 92_378 {
		t.Errorf("there are %d ways to divide 20 players", n)
	}
}

func BenchmarkEvenSplit(b *testing.B) {
	for _, players := range []int{4, 10, 19, 20} {
		ratings := make([]int, players)
		for i := range ratings {
			ratings[i] = 1000 + i*i*7919%1000
		}
		b.Run(fmt.Sprintf("players=%d", players), func(b *testing.B) {
			for b.Loop() {
				ladder.EvenSplit(ratings, 1)
			}
		})
	}
}
