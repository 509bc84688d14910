package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestExponent(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{100: "1e2", 1000: "1e3", 2_500_000: "2.5e6", 10_000_000: "1e7"} {
		if got := exponent(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

// TestGrowthRatios: each figure is compared only with the same work in the smallest database.
func TestGrowthRatios(t *testing.T) {
	t.Parallel()
	got := growthRatios([]figure{
		{Name: "throughput.delivered", Value: 1500, Unit: "results/s", Better: higher},
		{Name: "growth.match.1e3", Value: 800, Unit: "µs", Better: lower},
		{Name: "growth.ranking.1e3", Value: 400, Unit: "µs", Better: lower},
		{Name: "growth.match.1e5", Value: 880, Unit: "µs", Better: lower},
		{Name: "growth.ranking.1e5", Value: 400, Unit: "µs", Better: lower},
		{Name: "growth.match.1e6", Value: 1200, Unit: "µs", Better: lower},
	})
	want := []figure{
		{Name: "ratio.growth.match.1e5", Value: 1.1, Unit: "×", Better: lower},
		{Name: "ratio.growth.ranking.1e5", Value: 1, Unit: "×", Better: lower},
		{Name: "ratio.growth.match.1e6", Value: 1.5, Unit: "×", Better: lower},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
