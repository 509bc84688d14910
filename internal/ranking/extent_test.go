//go:build !soak

package ranking_test

// The extent of scalable tests.
const (
	moveRounds   = 4 // each combination of known and unknown chats once
	laterMatches = 500
)
