package chart

import (
	"slices"
	"testing"
	"time"
)

// BenchmarkDraw measures drawing two charts: of 400 players who together have played 20,000
// matches, and of four players who have played about 20,000 matches each.
func BenchmarkDraw(b *testing.B) {
	long := make([]Line, MaxHighlighted)
	for i := range long {
		long[i] = season(1, 20_000+i)[0]
	}
	for name, c := range map[string]Chart{"players=400": chartOf(season(400, 20_000)), "players=4": chartOf(long)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var times []time.Duration
			for b.Loop() {
				start := time.Now()
				if _, err := Draw(c); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(start))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}
