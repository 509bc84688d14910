//go:build !soak

package ranking_test

// The extent of scalable tests.
const (
	moveRounds   = 4 // once for each combination of known and unknown chats
	laterMatches = 500
)
