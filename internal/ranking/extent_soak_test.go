//go:build soak

package ranking_test

// How much the tests do that could do more and more.
const (
	moveRounds   = 100
	laterMatches = 10_000
)
