//go:build soak

package ranking_test

// The extent of scalable tests.
const (
	moveRounds   = 100
	laterMatches = 9_000 // below the limit of what an amendment may replay
)
