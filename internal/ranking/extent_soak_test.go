//go:build soak

package ranking_test

// The sizes of tests that do less without the soak tag.
const (
	moveRounds   = 100
	laterMatches = 9_000 // below the limit of what an amendment may replay
)
