package elo_test

import (
	"fmt"
	"testing"

	"elobot/internal/elo"
)

// BenchmarkChange is one match of sides of that size.
func BenchmarkChange(b *testing.B) {
	for _, size := range []int{1, 2, 10} {
		one, other := make([]int, size), make([]int, size)
		for i := range size {
			one[i], other[i] = 1512+i, 1488-i
		}
		for _, k := range []int{10, 32} {
			b.Run(fmt.Sprintf("size=%d/k=%d", size, k), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					elo.Change(k, one, other, elo.Win)
				}
			})
		}
	}
}
