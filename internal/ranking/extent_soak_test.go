//go:build soak

package ranking_test

// These are the sizes of tests that do less without the soak tag.
const (
	moveRounds   = 100
	laterMatches = 9_000 // fewer than an amendment may replay
)
