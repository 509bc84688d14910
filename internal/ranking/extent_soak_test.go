//go:build soak

package ranking_test

// The extent of scalable tests.
const (
	moveRounds   = 100
	laterMatches = 9_000 // fewer than an amendment may replay
)
