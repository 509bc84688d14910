//go:build soak

package ranking_test

// The extent of scalable tests.
const (
	moveRounds   = 100
	laterMatches = 10_000
)
