package elo_test

import (
	"fmt"
	"testing"

	"elobot/internal/elo"
)

// BenchmarkChange measures the calculation of a winner's rating change in a match between sides of
// equal size.
func BenchmarkChange(b *testing.B) {
	for _, size := range []int{1, 2, 10} {
		sideA, sideB := make([]int, size), make([]int, size)
		for i := range size {
			sideA[i], sideB[i] = 1512+i, 1488-i
		}
		for _, k := range []float64{10, 32} {
			b.Run(fmt.Sprintf("size=%d/k=%v", size, k), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					elo.Change(k, sideA, sideB, elo.Win)
				}
			})
		}
	}
}
